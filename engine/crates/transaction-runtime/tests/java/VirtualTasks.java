import java.util.concurrent.*;
import java.util.concurrent.locks.ReentrantLock;

/** As {@link Tasks}, by virtual threads: they wait, and go on in other threads. */
public class VirtualTasks {
    public static void main(String[] arguments) throws Exception {
        Tasks.run(arguments, way(arguments[0]), 1);
    }

    static Tasks.Way way(String name) {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        Tasks.endings.add(threads::shutdown);
        switch (name) {
            case "sleep":
                return request -> threads.submit(() -> {
                    Thread.sleep(request % 3);
                    Thread.yield();
                    Tasks.send(request);
                    return null;
                });
            case "locks":
                ReentrantLock lock = new ReentrantLock();
                return request -> Thread.startVirtualThread(() -> {
                    lock.lock();
                    try {
                        Thread.yield();
                    } finally {
                        lock.unlock();
                    }
                    Tasks.send(request);
                });
            case "within":
                return within(threads);
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** Virtual threads, a pool and futures within one another, and a task in which a virtual thread waits. */
    static Tasks.Way within(ExecutorService threads) {
        ExecutorService pool = Tasks.ended(Executors.newFixedThreadPool(2));
        Semaphore few = new Semaphore(3);
        return request -> threads.submit(() -> {
            few.acquire();
            long got = pool.submit(() -> request).get();
            CompletableFuture.supplyAsync(() -> got, threads).thenAccept(it -> {
                try {
                    Thread.sleep(1);
                } catch (InterruptedException error) {
                    throw new RuntimeException(error);
                }
                few.release();
                Tasks.send(it);
            });
            return null;
        });
    }
}
