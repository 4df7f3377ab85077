import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;

/** Known allocations in and outside of thread-local buffers, and known parking; the argument is how many rounds. */
public class Parked {
    static volatile Object kept;
    static volatile double sink;
    static final SynchronousQueue<Integer> queue = new SynchronousQueue<>();

    /** 4 KB each: a buffer holds many. */
    static void small(int n) {
        for (int i = 0; i < n; i++) {
            kept = new byte[4096];
        }
    }

    /** 8 MB: larger than any buffer. */
    static void large() {
        kept = new byte[8 << 20];
    }

    static void pause() {
        LockSupport.parkNanos(20_000_000);
    }

    static void compute(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++) {
            sum += Math.sqrt(i) % 7;
        }
        sink = sum;
    }

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        Thread taker = new Thread(() -> {
            try {
                for (int i = 0; i < rounds; i++) {
                    queue.take();
                }
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
        }, "taker");
        taker.start();
        for (int i = 0; i < rounds; i++) {
            small(2000);
            large();
            compute(2_000_000);
            pause();
            queue.put(i);
        }
        taker.join();
    }
}
