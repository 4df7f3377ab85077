package bookstore;

import java.util.List;

/** What a query found. */
record Rows(List<Object[]> rows) {
    boolean isEmpty() {
        return rows.isEmpty();
    }

    /** A number of the first row. */
    int number(int column) {
        return ((Number) rows.get(0)[column]).intValue();
    }
}
