package bookstore;

import java.sql.SQLException;

/** A customer's cart. */
final class Cart {
    private Cart() {}

    /** Item, quantity, cost and title of each line. */
    static Rows lines(Statements sql, int cart) throws SQLException {
        return sql.query(
                """
                SELECT scl_i_id, scl_qty, i_cost, i_title FROM cart_line, item
                WHERE i_id = scl_i_id AND scl_sc_id = ?
                """,
                cart);
    }
}
