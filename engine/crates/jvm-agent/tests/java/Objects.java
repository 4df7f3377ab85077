import java.net.URL;
import java.net.URLClassLoader;

/** Objects of three kinds, a class that is unloaded, and a collection. */
public class Objects {
    static class Wanted {
        final long a = 1;
    }

    static class Special extends Wanted implements Cloneable {
        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    static Object sink;

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 700; i++) {
            sink = new Wanted();
        }
        for (int i = 0; i < 40; i++) {
            sink = new Special();
        }
        sink = ((Special) sink).copy();
        sink = new Wanted[3];
        for (int i = 0; i < 100; i++) {
            sink = new byte[100 << 10];
        }
        unload();
        sink = null;
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        System.out.println("done");
        // Until whoever reads the log has seen what threads of the machine's tell of this.
        System.in.read();
    }

    private static void unload() throws Exception {
        URL[] here = {Objects.class.getProtectionDomain().getCodeSource().getLocation()};
        try (URLClassLoader loader = new URLClassLoader(here, null)) {
            Class<?> again = Class.forName("Objects$Wanted", true, loader);
            System.out.println(again != Wanted.class);
        }
    }
}
