package bench;

/** The method that is monitored. */
public class Target {
    static int mask = 7;

    static int work(int n) {
        return n ^ mask;
    }
}
