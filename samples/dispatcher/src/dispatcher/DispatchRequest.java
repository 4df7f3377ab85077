package dispatcher;

import java.io.DataOutputStream;
import java.io.IOException;

/** A request on its way from a receiver to a dispatcher. Times are {@link System#nanoTime}'s. */
final class DispatchRequest {
    private final Message message;
    private final byte[] body;
    private final DataOutputStream out;
    /** Counts from 1 in the order of the queue. */
    long number;
    long enqueued;
    long dispatched;
    long finished;

    DispatchRequest(Message message, byte[] body, DataOutputStream out) {
        this.message = message;
        this.body = body;
        this.out = out;
    }

    void enqueued(long number) {
        this.number = number;
        this.enqueued = System.nanoTime();
    }

    void dispatched() {
        this.dispatched = System.nanoTime();
    }

    void invoke(Servant servant) throws IOException {
        byte[] result = servant.pingWithWait(body);
        reply(result);
        this.finished = System.nanoTime();
    }

    private void reply(byte[] result) throws IOException {
        byte[] bytes = new Message(message.number, result.length).withBody(result);
        // Replies of several dispatchers go to one connection.
        synchronized (out) {
            out.write(bytes);
            out.flush();
        }
    }
}
