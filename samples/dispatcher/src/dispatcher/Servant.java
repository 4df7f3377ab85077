package dispatcher;

/** The object that clients call. It waits for a constant time without using CPU time. */
final class Servant {
    private final long serviceNs;

    Servant(long serviceNs) {
        this.serviceNs = serviceNs;
    }

    byte[] pingWithWait(byte[] body) {
        Clock.sleepUntil(System.nanoTime() + serviceNs);
        return body;
    }
}
