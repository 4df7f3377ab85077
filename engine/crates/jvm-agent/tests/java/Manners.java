/** Ends in many ways. */
public class Manners {
    static int deep(int n) {
        return n == 0 ? 0 : 1 + deep(n - 1);
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println("out " + deep(20));
        System.err.println("err");
        switch (arguments[0]) {
            case "exit-in-handler":
                try {
                    throw new IllegalStateException("expected");
                } catch (IllegalStateException expected) {
                    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook " + deep(5))));
                    System.exit(42);
                }
                break;
            case "uncaught":
                throw new IllegalArgumentException("nobody catches this");
            case "overflow":
                try {
                    deep(Integer.MAX_VALUE);
                } catch (StackOverflowError expected) {
                    System.out.println("overflow");
                }
                break;
            case "daemon":
                Thread daemon = new Thread(() -> {
                    while (true) {
                        deep(3);
                    }
                });
                daemon.setDaemon(true);
                daemon.start();
                Thread.sleep(20);
                break;
            case "halt":
                Runtime.getRuntime().halt(7);
                break;
            case "wait":
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("interrupted")));
                System.out.println("ready");
                while (true) {
                    deep(10);
                    Thread.sleep(1);
                }
            case "work":
                System.out.println("ready");
                while (true) {
                    deep(10);
                }
            default:
                System.out.println("end");
        }
    }
}
