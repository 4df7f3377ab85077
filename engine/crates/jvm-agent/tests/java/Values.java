import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** Calls with values of all kinds. At its end it says of each what it was given and returned, thread by thread. */
public class Values {
    /** Nothing may be asked of it. */
    static class Trap {
        @Override
        public String toString() {
            throw new IllegalStateException("toString was called");
        }

        @Override
        public int hashCode() {
            throw new IllegalStateException("hashCode was called");
        }

        @Override
        public boolean equals(Object other) {
            throw new IllegalStateException("equals was called");
        }
    }

    /** The methods that are observed. */
    static class Work {
        final int kept;

        Work(int given, String name) {
            // Not what it was given any more.
            given = name.length();
            kept = given;
        }

        static int ints(boolean z, byte b, char c, short s, int i) {
            int sum = (z ? 1 : 0) + b + c + s + i;
            // What is logged was there before.
            z = false;
            i = -1;
            return sum;
        }

        double wide(long j, double d, float f, long k) {
            return d + f + (kept > 0 ? 0.5 : 0);
        }

        static float single(float f) {
            return -f;
        }

        static long many(int a, long b, int c, double d, int e, int f, int g, int h, int i, int j) {
            return Long.MIN_VALUE;
        }

        static boolean is(char c) {
            return c == '\'';
        }

        static byte low(int i) {
            return (byte) i;
        }

        static short middle(int i) {
            return (short) i;
        }

        static char character(int i) {
            return (char) i;
        }

        static String text(String a, String b) {
            return a == null ? null : a.concat(b);
        }

        static Object object(Object a, int[] b, String[][] c) {
            return a;
        }

        void nothing() {
        }

        static int fails(int i) {
            if (i > 1) {
                throw new UnsupportedOperationException();
            }
            return i;
        }

        synchronized String nested(int depth) {
            if (depth == 0) {
                return "end";
            }
            String inner = nested(depth - 1);
            said(depth - 1 == 0 ? "nested(0) → \"end\"" : "nested(" + (depth - 1) + ") → \"" + inner + "\"");
            return depth + inner;
        }

        /** A call during which a lot happens: readers look it up in another way. */
        static String lasting(int calls, String name) {
            for (int i = 0; i < calls; i++) {
                said("low(" + i + ") → " + low(i));
            }
            return name;
        }
    }

    private static final ThreadLocal<List<String>> SAID = new ThreadLocal<List<String>>() {
        @Override
        protected List<String> initialValue() {
            return new ArrayList<String>();
        }
    };

    static void said(String text) {
        SAID.get().add(text);
    }

    static String times(int count, char c) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(c);
        }
        return text.toString();
    }

    static void numbers() {
        said("ints(true, -128, 'A', -32768, 2147483647) → " + Work.ints(true, (byte) -128, 'A', Short.MIN_VALUE, Integer.MAX_VALUE));
        said("ints(false, 127, '\\n', 32767, -2147483648) → " + Work.ints(false, (byte) 127, '\n', Short.MAX_VALUE, Integer.MIN_VALUE));
        Work work = new Work(7, "name");
        said("<init>");
        said("wide(9223372036854775807, 0.25, -1.5, -9223372036854775808) → "
                + work.wide(Long.MAX_VALUE, 0.25, -1.5f, Long.MIN_VALUE));
        work.wide(0, Double.NaN, 0, 1);
        said("wide(0, NaN, 0.0, 1) → NaN");
        work.wide(0, Double.NEGATIVE_INFINITY, Float.MIN_VALUE, 1);
        said("wide(0, -Infinity, 1e-45, 1) → -Infinity");
        Work.single(Float.POSITIVE_INFINITY);
        said("single(Infinity) → -Infinity");
        Work.single(16777216f);
        said("single(16777216.0) → -16777216.0");
        Work.single(Float.MAX_VALUE);
        said("single(3.4028235e38) → -3.4028235e38");
        Work.single(0f);
        said("single(0.0) → -0.0");
        said("many(1, 2, 3, 4.0, 5, 6, 7, 8, …) → " + Work.many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
        said("is('\\'') → " + Work.is('\''));
        said("is('\u00e9') → " + Work.is('\u00e9'));
        // Half a character.
        said("is('\ufffd') → " + Work.is('\ud800'));
        said("low(511) → " + Work.low(511));
        said("middle(98304) → " + Work.middle(98304));
        said("character(65601) → '" + Work.character(65601) + "'");
        work.nothing();
        said("nothing");
    }

    static void texts() {
        Work.text("plain", "");
        said("text(\"plain\", \"\") → \"plain\"");
        Work.text(null, null);
        said("text(null, null) → null");
        Work.text("a\n\"b\"\\", "\u202e\u0007");
        said("text(\"a\\n\\\"b\\\"\\\\\", \"\\u{202e}\\u{7}\") → \"a\\n\\\"b\\\"\\\\\\u{202e}\\u{7}\"");
        Work.text("\u00e9\u20ac\ud83d\ude00", "\udc00x");
        said("text(\"\u00e9\u20ac\ud83d\ude00\", \"\ufffdx\") → \"\u00e9\u20ac\ud83d\ude00\ufffdx\"");
        Work.text(times(63, 'x'), "\u00e9");
        said("text(\"" + times(63, 'x') + "\", \"\u00e9\") → \"" + times(63, 'x') + "\"…");
        Work.text(times(64, 'y'), "z");
        said("text(\"" + times(64, 'y') + "\", \"z\") → \"" + times(64, 'y') + "\"…");
        Work.text(times(1000000, '\u20ac'), "");
        said("text(\"" + times(21, '\u20ac') + "\"…, \"\") → \"" + times(21, '\u20ac') + "\"…");
    }

    static void objects() {
        Work.object(new Trap(), new int[3], new String[0][]);
        said("object(Values$Trap, int[], java.lang.String[][]) → Values$Trap");
        Work.object("a text", null, null);
        said("object(\"a text\", null, null) → \"a text\"");
        Work.object(Integer.valueOf(5), null, null);
        said("object(java.lang.Integer, null, null) → java.lang.Integer");
    }

    static void ends() {
        said("fails(1) → " + Work.fails(1));
        try {
            Work.fails(2);
        } catch (UnsupportedOperationException expected) {
            said("fails(2) thrown");
        }
        said("nested(3) → \"" + new Work(1, "").nested(3) + "\"");
        // Its constructor came before the calls inside.
        List<String> all = SAID.get();
        all.add(all.size() - 4, "<init>");
        said("lasting(3000, \"long\") → \"" + Work.lasting(3000, "long") + "\"");
    }

    public static void main(String[] arguments) throws Exception {
        final PrintStream out = new PrintStream(System.out, true, "UTF-8");
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread("worker-" + i) {
                @Override
                public void run() {
                    numbers();
                    texts();
                    objects();
                    ends();
                    synchronized (out) {
                        for (String line : SAID.get()) {
                            out.println(getName() + " " + line);
                        }
                    }
                }
            };
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
