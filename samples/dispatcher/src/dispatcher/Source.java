package dispatcher;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The load: a Poisson process over several connections. The same seed gives the same times. */
final class Source {
    private static final int BODY = 48;

    private final List<Socket> connections = new ArrayList<>();
    private final double perSecond;
    private final Random random;

    Source(int port, int count, double perSecond, long seed) throws IOException {
        this.perSecond = perSecond;
        this.random = new Random(seed);
        for (int n = 1; n <= count; n++) {
            Socket connection = new Socket(InetAddress.getLoopbackAddress(), port);
            connection.setTcpNoDelay(true);
            connections.add(connection);
            Thread thread = new Thread(() -> readReplies(connection), "Client-" + n);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Sends requests at their times. Deadlines are absolute: one late request does not delay the next ones. */
    void send(int requests) throws IOException {
        double seconds = 0;
        long start = System.nanoTime();
        for (long number = 1; number <= requests; number++) {
            seconds -= Math.log(1 - random.nextDouble()) / perSecond;
            OutputStream out = connections.get(random.nextInt(connections.size())).getOutputStream();
            byte[] request = new Message(number, BODY).withBody(new byte[BODY]);
            Clock.sleepUntil(start + (long) (seconds * 1e9));
            out.write(request);
        }
    }

    private static void readReplies(Socket connection) {
        try {
            DataInputStream in = new DataInputStream(connection.getInputStream());
            byte[] header = new byte[Message.HEADER];
            while (true) {
                in.readFully(header);
                in.readFully(new byte[Message.parse(header).length]);
            }
        } catch (IOException error) {
            throw new IllegalStateException("the server disconnected", error);
        }
    }
}
