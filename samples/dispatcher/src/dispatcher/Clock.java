package dispatcher;

import java.util.concurrent.locks.LockSupport;

/** Waits until a time of {@link System#nanoTime}. */
final class Clock {
    private Clock() {}

    /** Returns at the deadline, or at once if it has passed. {@link Thread#sleep} would round to milliseconds. */
    static void sleepUntil(long deadline) {
        for (long left = deadline - System.nanoTime(); left > 0; left = deadline - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
