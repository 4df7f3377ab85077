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

    /** The values that were told since the first of a call, and the kind of the last one. */
    private static final ThreadLocal<int[]> TOLD = new ThreadLocal<int[]>() {
        @Override
        protected int[] initialValue() {
            return new int[2];
        }
    };

    private static void told(int tag) {
        int[] told = TOLD.get();
        told[0] = (tag & 0x80) != 0 ? 1 : told[0] + 1;
        told[1] = tag;
    }

    private static synchronized void mistake(String what) {
        wrong += what;
    }

    public static void toldInt(int value, int tag) {
        told(tag);
        char type = (char) (tag & 0x7f);
        if ("ZBCSI".indexOf(type) < 0 || type == 'Z' && value != 0 && value != 1 || type == 'B' && value != (byte) value
                || type == 'C' && value != (char) value || type == 'S' && value != (short) value) {
            mistake(" int " + value + " as " + type);
        }
    }

    public static void toldLong(long value, int tag) {
        told(tag);
        if ((tag & 0x7f) != 'J') {
            mistake(" long as " + tag);
        }
    }

    public static void toldFloat(float value, int tag) {
        told(tag);
        if ((tag & 0x7f) != 'F') {
            mistake(" float as " + tag);
        }
    }

    public static void toldDouble(double value, int tag) {
        told(tag);
        if ((tag & 0x7f) != 'D') {
            mistake(" double as " + tag);
        }
    }

    public static void toldObject(Object value, int tag) {
        told(tag);
        if ((tag & 0x7f) != 'L') {
            mistake(" object as " + tag);
        }
    }

    public static void given(int all, int method) {
        int[] told = TOLD.get();
        if (told[0] != Math.min(all, 3) || (told[1] & 0x100) != 0) {
            mistake(" given " + told[0] + " of " + all);
        }
        enter(method);
    }

    public static void gives(int method) {
        int[] told = TOLD.get();
        if (told[0] != 1 || (told[1] & 0x180) != 0x180) {
            mistake(" gives " + told[0] + " as " + told[1]);
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
