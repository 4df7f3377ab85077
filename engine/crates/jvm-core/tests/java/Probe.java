import java.util.ArrayDeque;

/** What the probes of these tests call: keeps each thread's stack, and says at the end whether all of them fitted. */
public class Probe {
    private static final ThreadLocal<ArrayDeque<Integer>> STACK = new ThreadLocal<ArrayDeque<Integer>>() {
        @Override
        protected ArrayDeque<Integer> initialValue() {
            return new ArrayDeque<Integer>();
        }
    };
    private static int calls;
    private static int thrown;
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
}
