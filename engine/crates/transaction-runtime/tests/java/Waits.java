import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** A thread waits for another one, in as many ways as there are. The other one ends each wait when the kernel says that it sleeps. */
public class Waits {
    static class Cart { }

    static class Mail { }

    static final Cart cart = new Cart();
    static final Mail mail = new Mail();
    static final ReentrantLock lock = new ReentrantLock();
    static final ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
    static final Semaphore permits = new Semaphore(0);
    static final CountDownLatch gate = new CountDownLatch(1);

    interface Step {
        void go() throws Exception;
    }

    static void pay() {
        synchronized (cart) { }
    }

    static void reserve() {
        lock.lock();
        lock.unlock();
    }

    static void letReserve() {
        lock.unlock();
    }

    static void change() {
        shared.writeLock().lock();
        shared.writeLock().unlock();
    }

    static void letChange() {
        shared.readLock().unlock();
    }

    static void enter() throws InterruptedException {
        permits.acquire();
    }

    static void letEnter() {
        permits.release();
    }

    static void begin() throws InterruptedException {
        gate.await();
    }

    static void letBegin() {
        gate.countDown();
    }

    static void receive() throws InterruptedException {
        synchronized (mail) {
            mail.wait();
        }
    }

    static void receiveNothing() throws InterruptedException {
        synchronized (mail) {
            mail.wait(20);
        }
    }

    static void send() {
        synchronized (mail) {
            mail.notify();
        }
    }

    public static void main(String[] arguments) throws Exception {
        synchronized (cart) {
            starts(Waits::pay);
            untilAsleep();
        }
        waiter.join();
        lock.lock();
        waits(Waits::reserve, Waits::letReserve);
        shared.readLock().lock();
        waits(Waits::change, Waits::letChange);
        waits(Waits::enter, Waits::letEnter);
        waits(Waits::begin, Waits::letBegin);
        waits(Waits::receive, Waits::send);
        starts(Waits::receiveNothing);
        waiter.join();
        System.out.println("done");
    }

    /** A thread that waits in a step, which another step ends. */
    static void waits(Step step, Step end) throws Exception {
        starts(step);
        untilAsleep();
        end.go();
        waiter.join();
    }

    static Thread waiter;

    static void starts(Step step) {
        waiter = new Thread(() -> {
            try {
                step.go();
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }, "waiter");
        waiter.start();
    }

    /** Waits until the kernel says that the waiter sleeps in a futex call. */
    static void untilAsleep() throws IOException {
        while (!isAsleep()) {
            Thread.yield();
        }
    }

    static boolean isAsleep() throws IOException {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path thread : threads) {
                if (read(thread.resolve("comm")).equals("waiter\n")) {
                    return read(thread.resolve("syscall")).startsWith("202 ") && isWaiting(waiter.getState());
                }
            }
        }
        return false;
    }

    /** A thread that starts sleeps as well. */
    static boolean isWaiting(Thread.State state) {
        return state == Thread.State.BLOCKED || state == Thread.State.WAITING;
    }

    static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file));
        } catch (IOException ended) {
            return "";
        }
    }
}
