package dispatcher;

import java.io.IOException;

/** Takes requests from the pool and serves them, one after the other. */
final class Dispatcher implements Runnable {
    private final ThreadPool pool;
    private final Servant servant;
    private final Server server;

    Dispatcher(ThreadPool pool, Servant servant, Server server) {
        this.pool = pool;
        this.servant = servant;
        this.server = server;
    }

    @Override
    public void run() {
        try {
            while (true) {
                DispatchRequest request = pool.get();
                request.invoke(servant);
                server.finished(request);
            }
        } catch (InterruptedException | IOException error) {
            throw new IllegalStateException("a dispatcher cannot go on", error);
        }
    }
}
