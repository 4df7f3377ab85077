package bookstore;

import java.sql.SQLException;

/** The five items that are shown beside an item. */
final class Related {
    private Related() {}

    static Rows items(Statements sql, int item) throws SQLException {
        return sql.query(
                """
                SELECT j.i_id, j.i_thumbnail FROM item i, item j
                WHERE i.i_id = ? AND j.i_id IN (i.i_related1, i.i_related2, i.i_related3, i.i_related4, i.i_related5)
                """,
                item);
    }
}
