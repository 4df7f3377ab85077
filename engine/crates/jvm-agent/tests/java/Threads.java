import java.lang.management.ManagementFactory;

/** Threads that start threads, platform threads and where there are any virtual ones, and calls in each. */
public class Threads {
    static int fib(int n) {
        return n < 2 ? 1 : fib(n - 1) + fib(n - 2);
    }

    static void sleepy() throws InterruptedException {
        fib(5);
        Thread.sleep(2);
        fib(4);
    }

    static Thread virtual(Runnable run) throws Exception {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, run);
        } catch (NoSuchMethodException old) {
            return null;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread child = new Thread(() -> {
            Thread grandchild = new Thread(() -> fib(3), "grandchild");
            grandchild.setDaemon(true);
            grandchild.start();
            try {
                grandchild.join();
            } catch (InterruptedException never) {
                throw new AssertionError(never);
            }
        }, "child");
        child.start();
        child.join();
        try {
            child.start();
        } catch (IllegalThreadStateException expected) {
            System.out.println("not twice");
        }
        // One thread carries all virtual ones, and has worked for as long as all before when the others come.
        System.setProperty("jdk.virtualThreadScheduler.parallelism", "1");
        System.setProperty("jdk.virtualThreadScheduler.maxPoolSize", "1");
        com.sun.management.OperatingSystemMXBean system =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long twice = 2 * system.getProcessCpuTime();
        Thread busy = virtual(() -> {
            while (system.getProcessCpuTime() < twice) {
            }
        });
        if (busy != null) {
            busy.join();
        }
        Thread[] many = new Thread[50];
        int count = 0;
        for (int i = 0; i < many.length; i++) {
            many[i] = virtual(() -> {
                try {
                    sleepy();
                } catch (InterruptedException never) {
                    throw new AssertionError(never);
                }
            });
            count += many[i] == null ? 0 : 1;
        }
        for (Thread one : many) {
            if (one != null) {
                one.join();
            }
        }
        System.out.println("virtual " + count);
        System.out.println(system.getProcessCpuTime());
    }
}
