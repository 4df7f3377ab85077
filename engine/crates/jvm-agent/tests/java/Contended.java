import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Threads that increment a shared counter and work in between (JPMT, Figure 4). Says how often each was blocked. */
public class Contended {
    static class Counter {
        int value;

        synchronized void increment() {
            value++;
            work(300);
        }
    }

    static volatile int sink;

    static void work(int steps) {
        int x = sink;
        for (int i = 0; i < steps; i++) {
            x = x * 31 + i;
        }
        sink = x;
    }

    /** Shows in the log that the machine's count is taken from here on. */
    static void counting() {
    }

    /** Shows in the log that the machine's count has been taken. */
    static void counted() {
    }

    public static void main(String[] arguments) throws Exception {
        Counter counter = new Counter();
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int n = 0; n < 3000; n++) {
                    counter.increment();
                    work(200);
                }
                // The machine's own count, which ends with the thread. Asking for it may wait too, before it is taken or after.
                ThreadMXBean bean = ManagementFactory.getThreadMXBean();
                counting();
                long blocked = bean.getThreadInfo(Thread.currentThread().getId()).getBlockedCount();
                counted();
                synchronized (System.out) {
                    System.out.println(Thread.currentThread().getName() + " " + blocked);
                }
            }, "incrementer-" + i);
        }
        ManagementFactory.getThreadMXBean().getThreadInfo(1);
        // On a busy machine the threads could run one after the other: here each is blocked once at least.
        synchronized (counter) {
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.sleep(1);
                }
            }
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("value " + counter.value);
    }
}
