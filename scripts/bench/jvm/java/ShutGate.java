/** The cost of a call in nanoseconds, the minimum of many rounds. Each call needs the result of the one before. */
public class ShutGate {
    private static final int CALLS = 20_000_000;

    static int work(int number) {
        return number * 31 + 7;
    }

    public static void main(String[] arguments) {
        double least = Double.MAX_VALUE;
        int number = arguments.length;
        for (int round = 0; round < 30; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS; i++) {
                number = work(number);
            }
            least = Math.min(least, (System.nanoTime() - start) / (double) CALLS);
        }
        System.out.println(least + " " + number);
    }
}
