import java.util.Enumeration;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Links every class of a jar, and with that verifies it; prints how many, and which are wrong. */
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
                    // Of a library that is optional.
                    incomplete++;
                }
            }
        }
        System.out.println(linked + " classes, " + incomplete + " of libraries that are not there");
    }
}
