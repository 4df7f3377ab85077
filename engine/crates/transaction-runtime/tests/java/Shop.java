import java.io.*;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.*;
import java.util.concurrent.*;

/**
 * A server whose requests ask another process, the database, from threads that have never seen the client: of an executor, of a
 * future, behind a queue, and virtual ones.
 */
public class Shop {
    static Socket database;
    static BufferedReader answers;
    static final ExecutorService pool = Executors.newFixedThreadPool(2);
    static final BlockingQueue<Order> orders = new LinkedBlockingQueue<>();

    record Order(Socket client) { }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            new Thread(Shop::database, "database").start();
            return;
        }
        String java = ProcessHandle.current().info().command().get();
        Process child = new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
                System.getProperty("java.class.path"), "Shop", "database")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        int port = Integer.parseInt(child.inputReader().readLine());
        database = new Socket("127.0.0.1", port);
        answers = new BufferedReader(new InputStreamReader(database.getInputStream()));
        Thread worker = new Thread(Shop::work, "worker");
        worker.setDaemon(true);
        worker.start();
        ServerSocket listening = new ServerSocket(0);
        System.out.println(listening.getLocalPort());
        while (true) {
            Socket client = listening.accept();
            new Thread(() -> serve(client), "connection").start();
        }
    }

    static void serve(Socket client) {
        try {
            BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                while (!in.readLine().isEmpty()) { }
                switch (line.split(" ")[1]) {
                    case "/executor" -> pool.execute(() -> buy(client));
                    case "/future" -> CompletableFuture.supplyAsync(() -> 1).thenAcceptAsync(it -> buy(client), pool);
                    case "/queue" -> orders.put(new Order(client));
                    case "/virtual" -> Thread.class.getMethod("startVirtualThread", Runnable.class)
                            .invoke(null, (Runnable) () -> later(client));
                    default -> {
                        answer(client);
                        System.exit(0);
                    }
                }
            }
        } catch (Exception error) {
            throw new RuntimeException(error);
        }
    }

    static void later(Socket client) {
        try {
            Thread.sleep(1);
            buy(client);
        } catch (InterruptedException error) {
            throw new RuntimeException(error);
        }
    }

    static void work() {
        try {
            while (true) {
                buy(orders.take().client());
            }
        } catch (InterruptedException error) {
            throw new RuntimeException(error);
        }
    }

    static void buy(Socket client) {
        try {
            synchronized (database) {
                database.getOutputStream().write("buy\n".getBytes());
                answers.readLine();
            }
            answer(client);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    static void answer(Socket client) throws IOException {
        client.getOutputStream().write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes());
    }

    /** Takes three milliseconds of processor time for each question. */
    static void database() {
        ThreadMXBean time = ManagementFactory.getThreadMXBean();
        try (ServerSocket listening = new ServerSocket(0)) {
            System.out.println(listening.getLocalPort());
            Socket shop = listening.accept();
            BufferedReader in = new BufferedReader(new InputStreamReader(shop.getInputStream()));
            while (in.readLine() != null) {
                long end = time.getCurrentThreadCpuTime() + 3_000_000;
                while (time.getCurrentThreadCpuTime() < end) { }
                shop.getOutputStream().write("done\n".getBytes());
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
