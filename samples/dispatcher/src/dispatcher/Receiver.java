package dispatcher;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;

/** Reads the requests of one connection and puts them into the pool. */
final class Receiver implements Runnable {
    private final DataInputStream in;
    private final DataOutputStream out;
    private final ThreadPool pool;

    Receiver(Socket connection, ThreadPool pool) throws IOException {
        this.in = new DataInputStream(connection.getInputStream());
        this.out = new DataOutputStream(connection.getOutputStream());
        this.pool = pool;
    }

    @Override
    public void run() {
        try {
            while (true) {
                byte[] header = receive(Message.HEADER);
                Message message = extractHeader(header);
                byte[] body = receive(message.length);
                execute(message, body);
            }
        } catch (EOFException end) {
            // The client disconnected.
        } catch (IOException error) {
            throw new IllegalStateException("a connection broke", error);
        }
    }

    private byte[] receive(int length) throws IOException {
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private Message extractHeader(byte[] header) throws IOException {
        return Message.parse(header);
    }

    private void execute(Message message, byte[] body) {
        DispatchRequest request = new DispatchRequest(message, body, out);
        pool.add(request);
    }
}
