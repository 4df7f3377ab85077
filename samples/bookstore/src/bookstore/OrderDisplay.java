package bookstore;

import java.sql.SQLException;

/** The customer's latest order. */
final class OrderDisplay extends Interaction {
    private static final long serialVersionUID = 1L;

    OrderDisplay(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        Rows orders = sql.query(
                "SELECT o_id, o_date, o_total, o_status FROM orders WHERE o_c_id = ? ORDER BY o_id DESC LIMIT 1",
                request.number("c_id"));
        page.rows(orders);
        if (!orders.isEmpty()) {
            page.rows(sql.query(
                    "SELECT ol_i_id, i_title, ol_qty, i_cost FROM order_line, item WHERE ol_i_id = i_id AND ol_o_id = ?",
                    orders.number(0)));
        }
    }
}
