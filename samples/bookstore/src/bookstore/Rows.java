package bookstore;

import java.util.List;

/** The result of a query. */
record Rows(List<Object[]> rows) {
    boolean isEmpty() {
        return rows.isEmpty();
    }

    /** A number in the first row. */
    int number(int column) {
        return ((Number) rows.get(0)[column]).intValue();
    }
}
