import java.util.ArrayList;
import java.util.List;

/** Every way into a method and out of it that Java 7 knows; prints what happened. */
public class Torture {
    static final StringBuilder OUT = new StringBuilder();

    static void say(Object what) {
        OUT.append(what).append('\n');
    }

    static int recursive(int n) {
        return n < 2 ? n : recursive(n - 1) + recursive(n - 2);
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static void loopAtTheBeginning(int[] left) {
        do {
            left[0]--;
        } while (left[0] > 0);
    }

    static void endless(int[] left) {
        for (;;) {
            if (--left[0] < 0) {
                throw new IllegalStateException("enough");
            }
        }
    }

    static int thrower(int depth) {
        if (depth == 0) {
            throw new RuntimeException("bottom");
        }
        return thrower(depth - 1);
    }

    static int catcher(int depth) {
        try {
            return thrower(depth);
        } catch (RuntimeException e) {
            say(e.getMessage());
            return -depth;
        } finally {
            say("finally " + depth);
        }
    }

    @SuppressWarnings("finally")
    static int finallyWins() {
        try {
            throw new Error("lost");
        } finally {
            return 7;
        }
    }

    static int nestedFinally(int way) {
        int sum = 0;
        outer:
        for (int i = 0; i < 3; i++) {
            try {
                try {
                    if (way == 1) {
                        continue outer;
                    }
                    if (way == 2) {
                        break outer;
                    }
                    if (way == 3) {
                        return sum;
                    }
                    sum += 100;
                } finally {
                    sum += 1;
                }
            } finally {
                sum += 10;
            }
        }
        return sum;
    }

    static String dense(int n) {
        switch (n) {
            case 0:
                return "zero";
            case 1:
                return "one";
            case 2:
            case 3:
                return "few";
            case 4:
                break;
            default:
                return "many";
        }
        return "four";
    }

    static int sparse(int n) {
        switch (n) {
            case -1000000:
                return 1;
            case 5:
                return 2;
            case Integer.MAX_VALUE:
                return 3;
            default:
                return 4;
        }
    }

    static int text(String text) {
        switch (text) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            default:
                return 3;
        }
    }

    static synchronized long synchronizedStatic(long a, double b) {
        return a + (long) b;
    }

    synchronized double synchronizedThrow(boolean really) {
        if (really) {
            throw new UnsupportedOperationException();
        }
        return 2.5;
    }

    int block(Object lock, int n) {
        synchronized (lock) {
            synchronized (this) {
                if (n == 0) {
                    throw new IllegalArgumentException("in a block");
                }
                return n;
            }
        }
    }

    static long wide(long a, double b, long c, double d) {
        long x = a;
        for (int i = 0; i < 300; i++) {
            x += c;
        }
        return x + (long) (b * d);
    }

    static float floating(float a) {
        return a / 0f;
    }

    static Object nothing() {
        return null;
    }

    static int arithmetic(int by) {
        return 1 / by;
    }

    interface Shape {
        double area();
    }

    enum Kind implements Shape {
        ROUND {
            @Override
            public double area() {
                return 3;
            }
        },
        SQUARE {
            @Override
            public double area() {
                return 4;
            }
        };
    }

    static class Base {
        final Object value;

        Base(Object value) {
            if (value == null) {
                throw new NullPointerException("no value");
            }
            this.value = value;
        }

        Base(int a, int b) {
            this(a > b ? Integer.valueOf(a) : (Object) ("less " + b));
        }
    }

    static class Derived extends Base {
        static int made;
        final int n = ++made;

        Derived(boolean which, Object a) {
            super(which ? new Base(new Base(a)) : new StringBuilder(new String("plain")).append(a));
        }

        Derived(int n) {
            super(arithmetic(n));
            if (n > 5) {
                throw new IllegalStateException("after super");
            }
        }

        Derived() {
            this(true, new ArrayList<Object>(new ArrayList<Object>()));
        }
    }

    class Inner extends Derived {
        Inner() {
            super(1);
            say(Torture.this == null);
        }
    }

    static class Broken {
        static final int VALUE = arithmetic(0);
    }

    static void attempt(int which) {
        Torture torture = new Torture();
        try {
            switch (which) {
                case 0:
                    say(new Derived(true, "x").value.getClass());
                    break;
                case 1:
                    say(new Derived(false, "y").value);
                    break;
                case 2:
                    new Derived(true, null);
                    break;
                case 3:
                    new Derived(0);
                    break;
                case 4:
                    new Derived(9);
                    break;
                case 5:
                    say(new Base(1, 2).value + " " + new Base(2, 1).value);
                    break;
                case 6:
                    torture.new Inner();
                    break;
                case 7:
                    say(Broken.VALUE);
                    break;
                case 8:
                    torture.synchronizedThrow(true);
                    break;
                case 9:
                    torture.block("lock", 0);
                    break;
                case 10:
                    endless(new int[] {3});
                    break;
                case 11:
                    say(((String) nothing()).length());
                    break;
                default:
                    say(new Derived().n + " " + torture.synchronizedThrow(false) + " " + torture.block(OUT, 4));
            }
        } catch (Throwable e) {
            say(e.getClass().getName());
            StackTraceElement at = e.getStackTrace()[0];
            say(at.getMethodName() + ":" + at.getLineNumber());
        }
    }

    public static void main(String[] args) throws Exception {
        say(recursive(15));
        say(even(100));
        int[] left = {10};
        loopAtTheBeginning(left);
        say(left[0]);
        for (int i = 0; i < 4; i++) {
            say(catcher(i));
            say(nestedFinally(i));
        }
        say(finallyWins());
        for (int i = -1; i < 6; i++) {
            say(dense(i));
        }
        say(sparse(-1000000) + sparse(5) * 10 + sparse(Integer.MAX_VALUE) * 100 + sparse(0) * 1000);
        say(text("Aa") + text("BB") * 10 + text("C") * 100);
        say(synchronizedStatic(40, 2.9));
        say(wide(1, 2, 3, 4));
        say(floating(1));
        for (Kind kind : Kind.values()) {
            say(kind + " " + kind.area());
        }
        for (int i = 0; i < 13; i++) {
            attempt(i);
        }
        Thread[] threads = new Thread[4];
        final List<Long> sums = new ArrayList<Long>();
        for (int i = 0; i < threads.length; i++) {
            final int n = i;
            threads[i] = new Thread(new Runnable() {
                @Override
                public void run() {
                    long sum = recursive(10 + n);
                    synchronized (sums) {
                        sums.add(sum);
                    }
                }
            });
            threads[i].start();
            threads[i].join();
        }
        say(sums);
        System.out.print(OUT);
    }
}
