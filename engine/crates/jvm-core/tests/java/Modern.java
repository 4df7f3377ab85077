import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What Java 8 to 17 added: lambdas, default methods, records, switches that have values, patterns. */
public class Modern {
    interface Greeter {
        static Greeter polite() {
            return name -> "Dear " + name;
        }

        String greet(String name);

        default String greetTwice(String name) {
            return greet(name) + greet(prefix() + name);
        }

        private String prefix() {
            return "again ";
        }
    }

    record Point(int x, long y) {
        Point {
            if (x < 0) {
                throw new IllegalArgumentException("x is " + x);
            }
        }

        Point(int x) {
            this(x, IntStream.range(0, x).mapToLong(n -> n).sum());
        }
    }

    sealed interface Tree permits Leaf, Fork {}

    record Leaf(Object value) implements Tree {}

    record Fork(Tree left, Tree right) implements Tree {}

    static int depth(Tree tree) {
        if (tree instanceof Fork fork) {
            return 1 + Math.max(depth(fork.left()), depth(fork.right()));
        }
        return tree instanceof Leaf leaf && leaf.value() != null ? 1 : 0;
    }

    static int valued(Object of) {
        return switch (String.valueOf(of)) {
            case "a", "b" -> 1;
            case "c" -> {
                try {
                    yield Integer.parseInt("x");
                } catch (NumberFormatException e) {
                    yield 2;
                }
            }
            default -> throw new IllegalStateException("no " + of);
        };
    }

    static class Resource implements AutoCloseable {
        final String name;

        Resource(String name) {
            this.name = name;
        }

        @Override
        public void close() {
            throw new IllegalStateException("closing " + name);
        }
    }

    static String resources() {
        try (Resource one = new Resource("one"); Resource two = new Resource("two")) {
            throw new RuntimeException(one.name + two.name);
        } catch (RuntimeException e) {
            return e.getMessage() + e.getSuppressed().length;
        }
    }

    static class Holder extends Thread {
        final Supplier<String> supplier;

        Holder(String text) {
            super(() -> System.out.println(text));
            supplier = text::toUpperCase;
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println(Greeter.polite().greetTwice("Ada"));
        System.out.println(new Point(4) + " " + new Point(4).equals(new Point(4, 6)));
        try {
            new Point(-1);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        System.out.println(depth(new Fork(new Leaf(1), new Fork(new Leaf(null), new Leaf("x")))));
        for (Object of : List.of("a", "c", 'd')) {
            try {
                System.out.println(valued(of));
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
            }
        }
        System.out.println(resources());
        Function<Integer, Function<Integer, Integer>> add = a -> b -> a + b;
        List<Integer> numbers = IntStream.range(0, 20).boxed().map(n -> add.apply(n).apply(n)).collect(Collectors.toList());
        numbers.sort(Comparator.comparing((Integer n) -> n % 7).thenComparing(Comparator.reverseOrder()));
        System.out.println(new ArrayList<>(numbers));
        Holder holder = new Holder("thread");
        holder.start();
        holder.join();
        System.out.println(holder.supplier.get());
    }
}
