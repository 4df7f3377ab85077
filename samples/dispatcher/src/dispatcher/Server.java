package dispatcher;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Accepts connections, starts a receiver thread for each, and owns the pool. Its threads end with the program. */
final class Server {
    private final ThreadPool pool = new ThreadPool();
    private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<DispatchRequest> finished = new ArrayList<>();

    Server(int threads, Servant servant) throws IOException {
        for (int n = 1; n <= threads; n++) {
            start(new Dispatcher(pool, servant, this), "Dispatcher-" + n);
        }
        start(this::accept, "Acceptor");
    }

    int port() {
        return socket.getLocalPort();
    }

    private void accept() {
        try {
            for (int n = 1; ; n++) {
                Socket connection = socket.accept();
                connection.setTcpNoDelay(true);
                start(new Receiver(connection, pool), "Receiver-" + n);
            }
        } catch (IOException error) {
            throw new IllegalStateException("the server cannot accept connections", error);
        }
    }

    synchronized void finished(DispatchRequest request) {
        finished.add(request);
        notifyAll();
    }

    /** Waits until this many requests are finished. Returns all of them, in queue order. */
    synchronized List<DispatchRequest> finished(int count) throws InterruptedException {
        while (finished.size() < count) {
            wait();
        }
        List<DispatchRequest> all = new ArrayList<>(finished);
        all.sort(Comparator.comparingLong(request -> request.number));
        return all;
    }

    private static void start(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
