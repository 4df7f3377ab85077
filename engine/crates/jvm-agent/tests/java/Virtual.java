import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;

/** Every way to start a virtual thread, and threads of each kind that do it. JDK 21 and later. */
public class Virtual {
    static int answer() {
        return 42;
    }

    static Thread started(String name, Runnable run) {
        return Thread.ofVirtual().name(name).start(run);
    }

    static void joined(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException never) {
            throw new AssertionError(never);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Thread once = Thread.ofVirtual().name("of main").unstarted(() -> {
            answer();
            joined(started("of a virtual one", Virtual::answer));
            Thread platform = new Thread(() -> joined(started("of its platform thread", Virtual::answer)), "platform");
            platform.start();
            joined(platform);
            joined(Thread.startVirtualThread(() -> {
                Thread.currentThread().setName("without a name at first");
                answer();
            }));
        });
        once.start();
        once.join();
        try {
            once.start();
            throw new AssertionError();
        } catch (IllegalThreadStateException expected) {
            answer();
        }
        ThreadFactory named = Thread.ofVirtual().name("task ", 0).factory();
        Thread submitter = new Thread(() -> {
            try (var executor = Executors.newThreadPerTaskExecutor(named)) {
                executor.submit(Virtual::answer);
                executor.submit(Virtual::answer);
            }
        }, "submitter");
        submitter.start();
        submitter.join();
        Thread.ofVirtual().name("never started").unstarted(Virtual::answer);
        // More than are running at once.
        Thread[] many = new Thread[300];
        for (int n = 0; n < many.length; n++) {
            many[n] = started("one of many", Virtual::answer);
        }
        for (Thread one : many) {
            one.join();
        }
        System.out.println("done");
    }
}
