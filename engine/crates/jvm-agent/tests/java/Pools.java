import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;

/** Queues that are not first in, first out, which count by themselves what happens in them. */
public class Pools {
    /** A request, with its number in the queue's own count. */
    static final class Request {
        final int priority;
        int number;

        Request(int priority) {
            this.priority = priority;
        }
    }

    /** A queue of limited size, by priority or last in, first out; its monitor is held to the end of each call. */
    static final class Pool {
        private final Queue<Request> waiting;
        private final ArrayDeque<Request> stack = new ArrayDeque<>();
        private final boolean lifo;
        private final String name;
        private final StringBuilder log = new StringBuilder();
        private int puts;
        private boolean closed;

        Pool(String name, boolean lifo) {
            this.name = name;
            this.lifo = lifo;
            waiting = new PriorityQueue<>(Comparator.comparingInt((Request it) -> it.priority));
        }

        /** False: there is no place. The number in front of the request must not confuse anybody. */
        synchronized boolean offer(long deadline, Request request) {
            if (waiting.size() + stack.size() >= 8) {
                log.append(name).append(" rejected\n");
                return false;
            }
            request.number = ++puts;
            log.append(name).append(" put ").append(request.number).append('\n');
            if (lifo) {
                stack.push(request);
            } else {
                waiting.add(request);
            }
            notify();
            return true;
        }

        /** Null: nothing came in time, or nothing will come. */
        synchronized Request poll(long patience) throws InterruptedException {
            if (stack.isEmpty() && waiting.isEmpty() && !closed && patience > 0) {
                wait(patience);
            }
            Request request = lifo ? stack.poll() : waiting.poll();
            log.append(name).append(request == null ? " nothing" : " take " + request.number).append('\n');
            return request;
        }

        synchronized void close() {
            closed = true;
            notifyAll();
        }

        synchronized boolean isDone() {
            return closed && stack.isEmpty() && waiting.isEmpty();
        }
    }

    static void serve(Pool pool) {
        try {
            while (!pool.isDone()) {
                pool.poll(1);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Pool[] pools = {new Pool("urgent", false), new Pool("stack", true)};
        // Whatever happens then, neither the oldest nor the newest of these is the most urgent one.
        for (Pool pool : pools) {
            for (int priority : new int[] {1, 0, 2}) {
                pool.offer(0, new Request(priority));
            }
        }
        Thread[] threads = new Thread[6];
        for (int n = 0; n < 4; n++) {
            Pool pool = pools[n % 2];
            threads[n] = new Thread(() -> serve(pool), "Dispatcher-" + n);
        }
        for (int n = 0; n < 2; n++) {
            Random random = new Random(n);
            threads[4 + n] = new Thread(() -> {
                for (int at = 0; at < 200; at++) {
                    pools[random.nextInt(2)].offer(1L << 40, new Request(random.nextInt(3)));
                }
            }, "Receiver-" + n);
        }
        Arrays.stream(threads).forEach(Thread::start);
        threads[4].join();
        threads[5].join();
        for (Pool pool : pools) {
            pool.close();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        // A connection that is put and taken again and again is one object.
        Pool connections = new Pool("connections", true);
        Request one = new Request(0);
        for (int n = 0; n < 3; n++) {
            connections.offer(0, one);
            if (connections.poll(0) != one) {
                throw new AssertionError();
            }
        }
        for (Pool pool : new Pool[] {pools[0], pools[1], connections}) {
            System.out.print(pool.log);
        }
    }
}
