package dispatcher;

/** What clients call: it waits a constant time and uses no processor. */
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
