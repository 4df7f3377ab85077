import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.*;

/** Shows all that a program can see of how its tasks are done, and ends with a status of its own. */
public class Alike {
    static class Task implements Runnable {
        @Override
        public void run() {
            StringBuilder frames = new StringBuilder();
            for (StackTraceElement frame : new Throwable().getStackTrace()) {
                frames.append(frame.getClassName()).append('.').append(frame.getMethodName()).append(' ');
            }
            System.out.println(frames);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(ManagementFactory.getRuntimeMXBean().getInputArguments());
        System.out.println(System.getenv("JAVA_TOOL_OPTIONS"));
        Task task = new Task();
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
        CountDownLatch hold = new CountDownLatch(1);
        ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, queue) {
            @Override
            protected void beforeExecute(Thread thread, Runnable it) {
                System.out.println("before " + (it == task) + " " + it.getClass());
            }
        };
        CountDownLatch started = new CountDownLatch(1);
        Future<?> first = pool.submit(() -> {
            started.countDown();
            hold.await();
            return null;
        });
        started.await();
        pool.execute(task);
        System.out.println(queue.contains(task) + " " + queue.remove(task) + " " + pool.remove(task));
        hold.countDown();
        first.get();
        pool.submit(task).get();
        Future<?> failing = pool.submit(() -> {
            throw new IllegalStateException("no");
        });
        try {
            failing.get();
        } catch (ExecutionException error) {
            for (StackTraceElement frame : error.getCause().getStackTrace()) {
                System.out.println(frame.getClassName().replaceAll("Lambda.*", "") + " " + frame.getLineNumber());
            }
        }
        List<Runnable> left = pool.shutdownNow();
        System.out.println(left.size());
        try {
            pool.execute(task);
        } catch (RejectedExecutionException error) {
            System.out.println("rejected");
        }
        CompletableFuture.runAsync(task).join();
        CompletableFuture<Void> future = new CompletableFuture<>();
        future.thenRun(task);
        future.complete(null);
        new ForkJoinPool(1).submit(task).get();
        System.out.println(new ArrayBlockingQueue<>(2, false, List.of(1, 2)).poll());
        for (Class<?> of : new Class<?>[] {ThreadPoolExecutor.class, CompletableFuture.class, ForkJoinTask.class}) {
            System.out.println(of.getDeclaredMethods().length + " " + of.getDeclaredFields().length);
        }
        Thread last = new Thread(() -> {
            throw new IllegalStateException("uncaught");
        });
        last.start();
        last.join();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        System.exit(7);
    }
}
