import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.*;

/**
 * Reads numbers from one connection, hands each on in some way, and writes it to another connection at the end of that: whoever
 * knows for which number a thread works can say which number each write is of.
 */
public class Tasks {
    static OutputStream database;
    static CountDownLatch left;
    /** The number of the last request. */
    static final long last = Long.getLong("last", -1);
    static final List<Runnable> endings = new ArrayList<>();

    interface Way {
        void go(long request) throws Exception;
    }

    static void send(long request) {
        byte[] bytes = ByteBuffer.allocate(8).putLong(request).array();
        synchronized (database) {
            try {
                database.write(bytes);
            } catch (IOException error) {
                throw new RuntimeException(error);
            }
        }
        left.countDown();
    }

    public static void main(String[] arguments) throws Exception {
        run(arguments, way(arguments[0]), arguments[0].equals("fork") ? 4 : 1);
    }

    static void run(String[] arguments, Way way, int each) throws Exception {
        int count = Integer.parseInt(arguments[3]);
        left = new CountDownLatch(count * each);
        try (Socket requests = new Socket("127.0.0.1", Integer.parseInt(arguments[1]));
                Socket answers = new Socket("127.0.0.1", Integer.parseInt(arguments[2]))) {
            database = answers.getOutputStream();
            InputStream in = requests.getInputStream();
            for (int n = 0; n < count; n++) {
                way.go(ByteBuffer.wrap(in.readNBytes(8)).getLong());
            }
            left.await();
        }
        endings.forEach(Runnable::run);
        System.out.println("done");
    }

    static <T extends ExecutorService> T ended(T pool) {
        endings.add(pool::shutdown);
        return pool;
    }

    static Way way(String name) {
        switch (name) {
            case "executor":
                return executor();
            case "cached":
                ExecutorService cached = ended(Executors.newCachedThreadPool());
                return request -> cached.submit(() -> send(request)).get();
            case "scheduled":
                ScheduledExecutorService scheduled = ended(Executors.newScheduledThreadPool(3));
                return request -> scheduled.schedule(() -> send(request), request % 3, TimeUnit.MILLISECONDS);
            case "caller":
                return caller();
            case "fork":
                ForkJoinPool forks = ended(new ForkJoinPool(4));
                return request -> forks.execute(new Halves(request, 4));
            case "common":
                return request -> ForkJoinPool.commonPool().execute(() -> send(request));
            case "futures":
                return futures();
            case "completed":
                return completed();
            case "queues":
                return queues();
            case "pool":
                return pool();
            default:
                throw new IllegalArgumentException(name);
        }
    }

    /** From pool to pool, by all ways into them. */
    static Way executor() {
        ExecutorService first = ended(Executors.newFixedThreadPool(3));
        ExecutorService second = ended(Executors.newFixedThreadPool(2));
        return request -> {
            if (request % 2 == 0) {
                first.execute(() -> second.execute(() -> send(request)));
            } else {
                first.submit(() -> second.submit(() -> {
                    send(request);
                    return request;
                }));
            }
        };
    }

    /** Whoever hands a task on does it when there is no room, and goes on with its own. */
    static Way caller() {
        ThreadPoolExecutor pool = ended(new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(1)));
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
        ExecutorService first = ended(Executors.newFixedThreadPool(2));
        return request -> first.execute(() -> {
            pool.execute(() -> { });
            send(request);
        });
    }

    static class Halves extends RecursiveAction {
        final long request;
        final int size;

        Halves(long request, int size) {
            this.request = request;
            this.size = size;
        }

        @Override
        protected void compute() {
            if (size == 1) {
                send(request);
                return;
            }
            Halves one = new Halves(request, size / 2);
            Halves other = new Halves(request, size - size / 2);
            one.fork();
            other.compute();
            one.join();
        }
    }

    static Way futures() {
        ExecutorService pool = ended(Executors.newFixedThreadPool(3));
        return request -> CompletableFuture.supplyAsync(() -> request)
                .thenApplyAsync(it -> it + 1, pool)
                .thenCombine(CompletableFuture.supplyAsync(() -> 1L, pool), (a, b) -> a - b)
                .thenCompose(it -> CompletableFuture.supplyAsync(() -> it))
                .whenComplete((it, error) -> { })
                .handleAsync((it, error) -> it)
                .thenAccept(Tasks::send);
    }

    /** Each future is completed by another request's thread, and what depends on it is still its own request's. */
    static Way completed() {
        ExecutorService pool = ended(Executors.newFixedThreadPool(3));
        List<CompletableFuture<Long>> all = new ArrayList<>();
        return request -> {
            CompletableFuture<Long> future = new CompletableFuture<>();
            CompletableFuture<Long> other = all.isEmpty() ? null : all.get(all.size() - 1);
            if (request % 2 == 0) {
                future.thenAccept(Tasks::send);
            } else {
                future.thenAcceptAsync(Tasks::send, pool);
            }
            all.add(future);
            if (other != null) {
                pool.execute(() -> other.complete(request - 1));
            }
            if (request == last) {
                pool.execute(() -> future.complete(request));
            }
        };
    }

    static class Job {
        final long request;

        Job(long request) {
            this.request = request;
        }
    }

    static void worker(ThreadFactory threads, Callable<Job> take, Way way) {
        threads.newThread(() -> {
            try {
                while (true) {
                    way.go(take.call().request);
                }
            } catch (Exception error) {
                throw new RuntimeException(error);
            }
        }).start();
    }

    /** Two stages with queues between them, and threads of the program's own. */
    static Way queues() {
        BlockingQueue<Job> linked = new LinkedBlockingQueue<>();
        BlockingQueue<Job> array = new ArrayBlockingQueue<>(10);
        BlockingDeque<Job> deque = new LinkedBlockingDeque<>();
        BlockingQueue<Job> synchronous = new SynchronousQueue<>();
        BlockingQueue<Job> transfer = new LinkedTransferQueue<>();
        ThreadFactory threads = task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        };
        worker(threads, linked::take, request -> array.put(new Job(request)));
        worker(threads, linked::take, request -> array.put(new Job(request)));
        worker(threads, array::take, request -> deque.add(new Job(request)));
        worker(threads, deque::take, request -> synchronous.put(new Job(request)));
        worker(threads, synchronous::take, request -> transfer.put(new Job(request)));
        worker(threads, transfer::take, Tasks::send);
        worker(threads, transfer::take, Tasks::send);
        return request -> linked.put(new Job(request));
    }

    /** What is taken from a pool and put back carries nothing along. */
    static Way pool() {
        ExecutorService workers = ended(Executors.newFixedThreadPool(3));
        BlockingQueue<Job> connections = new ArrayBlockingQueue<>(2);
        connections.add(new Job(1));
        connections.add(new Job(2));
        return request -> workers.execute(() -> {
            try {
                Job connection = connections.take();
                send(request);
                connections.put(connection);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
        });
    }
}
