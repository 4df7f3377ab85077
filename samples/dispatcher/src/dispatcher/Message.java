package dispatcher;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The header of a request and of a reply: a magic number, the client's number, the body's length. */
final class Message {
    static final int HEADER = 16;
    private static final int MAGIC = 0x46554c43;

    final long number;
    final int length;

    Message(long number, int length) {
        this.number = number;
        this.length = length;
    }

    static Message parse(byte[] header) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(header);
        if (buffer.getInt() != MAGIC) {
            throw new IOException("a message does not begin with the magic number");
        }
        int length = buffer.getInt();
        return new Message(buffer.getLong(), length);
    }

    byte[] withBody(byte[] body) {
        ByteBuffer buffer = ByteBuffer.allocate(HEADER + body.length);
        return buffer.putInt(MAGIC).putInt(body.length).putLong(number).put(body).array();
    }
}
