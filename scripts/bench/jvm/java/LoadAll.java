import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Links, and so verifies, every class of a jar. Prints how many there are, and which fail. */
public class LoadAll {
    public static void main(String[] arguments) throws Exception {
        int linked = 0;
        int incomplete = 0;
        ClassLoader loader = LoadAll.class.getClassLoader();
        try (JarFile jar = new JarFile(arguments[0])) {
            for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements();) {
                String name = entries.nextElement().getName();
                if (!name.endsWith(".class") || name.startsWith("META-INF")) {
                    continue;
                }
                String type = name.substring(0, name.length() - 6).replace('/', '.');
                try {
                    Class.forName(type, false, loader).getDeclaredMethods();
                    linked++;
                } catch (VerifyError | ClassFormatError wrong) {
                    System.out.println(type + ": " + wrong);
                } catch (NoClassDefFoundError absent) {
                    // It needs an optional library.
                    incomplete++;
                }
            }
        }
        System.out.println(linked + " classes, " + incomplete + " of libraries that are not there");
    }
}
