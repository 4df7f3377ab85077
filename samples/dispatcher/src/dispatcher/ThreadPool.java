package dispatcher;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The queue between receivers and dispatchers, first in, first out.
 *
 * <p>Both methods hold the monitor from their first to their last instruction, so the order in which they end is the
 * order of the queue.
 */
final class ThreadPool {
    private final Deque<DispatchRequest> queue = new ArrayDeque<>();
    private long added;

    synchronized void add(DispatchRequest request) {
        added++;
        request.enqueued(added);
        queue.addLast(request);
        notify();
    }

    synchronized DispatchRequest get() throws InterruptedException {
        while (queue.isEmpty()) {
            wait();
        }
        DispatchRequest request = queue.removeFirst();
        request.dispatched();
        return request;
    }
}
