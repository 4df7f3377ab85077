package dispatcher;

import java.io.DataOutputStream;
import java.io.IOException;

/** A request on its way from a receiver to a dispatcher. Times are from {@link System#nanoTime}. */
final class DispatchRequest {
    private final Message message;
    private final byte[] body;
    private final DataOutputStream out;
    /** The number in queue order, from 1. */
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
        // Several dispatchers may reply on the same connection.
        synchronized (out) {
            out.write(bytes);
            out.flush();
        }
    }
}
