/** Known calls for the flight recorder; the argument is how many rounds. */
public class Work {
    static volatile double sink;
    static volatile Object kept;
    static final Object lock = new Object();

    static double leaf(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Math.sqrt(i) % 7;
        }
        return sum;
    }

    static double branch(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i % 7;
        }
        return sum + leaf(n);
    }

    static double recurse(int depth, int n) {
        double sum = leaf(n / 4);
        return depth > 0 ? sum + recurse(depth - 1, n) : sum;
    }

    static void allocate(int n) {
        for (int i = 0; i < n; i++) {
            kept = new byte[4096];
        }
    }

    static void wait(int milliseconds) {
        try {
            synchronized (lock) {
                Thread.sleep(milliseconds);
            }
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread other = new Thread(() -> {
            for (int i = 0; i < rounds / 2; i++) {
                wait(5);
                allocate(500);
            }
        }, "other");
        other.start();
        for (int i = 0; i < rounds; i++) {
            sink += branch(400_000) + recurse(100, 4000);
            synchronized (lock) {
                allocate(500);
            }
        }
        other.join();
    }
}
