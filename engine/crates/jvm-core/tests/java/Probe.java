import java.util.ArrayDeque;

/** What the probes of these tests call: keeps each thread's stack, and says at the end whether all of them fitted. */
public class Probe {
    private static final ThreadLocal<ArrayDeque<Integer>> STACK = new ThreadLocal<ArrayDeque<Integer>>() {
        @Override
        protected ArrayDeque<Integer> initialValue() {
            return new ArrayDeque<Integer>();
        }
    };
    /** The turns, of 31, at which the gate is closed. */
    private static final int CLOSED = 0x0810708c;
    private static int calls;
    private static int thrown;
    private static int turns;
    private static String wrong = "";

    static {
        Runtime.getRuntime().addShutdownHook(new Thread() {
            @Override
            public void run() {
                System.err.println("calls " + calls + " thrown " + thrown + wrong);
            }
        });
    }

    public static synchronized void enter(int method) {
        calls++;
        STACK.get().push(method);
    }

    public static synchronized void exit(int method) {
        Integer top = STACK.get().poll();
        if (top == null || top != method) {
            wrong += " left " + method + " within " + top;
        }
    }

    public static synchronized void thrown(int method) {
        thrown++;
        exit(method);
    }

    public static void entered(Object on, Object given, int method) {
        enter(method);
    }

    public static void returns(Object object, int method) {
        exit(method);
    }

    public static void says(int yes, int method) {
        if (yes != 0 && yes != 1) {
            wrong += " said " + yes;
        }
        exit(method);
    }

    /** A gate that is closed now and then, whatever is open: eight calls of 31 are not metered. */
    public static synchronized int gate(int method) {
        turns = (turns + 1) % 31;
        if ((CLOSED >>> turns & 1) == 1) {
            return 1;
        }
        enter(method);
        return 0;
    }

    public static void exit(int method, int said) {
        if (said == 0) {
            exit(method);
        }
    }

    public static void thrown(int method, int said) {
        if (said == 0) {
            thrown(method);
        }
    }
}
