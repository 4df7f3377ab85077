package bookstore;

import java.sql.SQLException;

/** Turns the cart into an order: a transaction that writes the order, its lines, and the stock. */
final class BuyConfirm extends Interaction {
    private static final long serialVersionUID = 1L;

    BuyConfirm(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        int customer = request.number("c_id");
        int cart = request.number("sc_id");
        sql.connection().setAutoCommit(false);
        Rows lines = Cart.lines(sql, cart);
        int order = sql.insert(
                "INSERT INTO orders (o_c_id, o_date, o_total, o_status) VALUES (?, NOW(), ?, 'PENDING')", customer, total(lines));
        // Always in the same order, so that no two purchases wait for each other's rows.
        lines.rows().sort((a, b) -> Integer.compare(((Number) a[0]).intValue(), ((Number) b[0]).intValue()));
        for (Object[] line : lines.rows()) {
            sql.update("INSERT INTO order_line (ol_o_id, ol_i_id, ol_qty) VALUES (?, ?, ?)", order, line[0], line[1]);
            sql.update(
                    "UPDATE item SET i_stock = IF(i_stock < ? + 10, i_stock + 21, i_stock - ?) WHERE i_id = ?",
                    line[1], line[1], line[0]);
        }
        sql.update("INSERT INTO cc_xacts (cx_o_id, cx_type, cx_amount) VALUES (?, 'VISA', ?)", order, total(lines));
        sql.update("DELETE FROM cart_line WHERE scl_sc_id = ?", cart);
        sql.connection().commit();
        sql.connection().setAutoCommit(true);
        page.line("Order", order);
    }

    private static double total(Rows lines) {
        double total = 0;
        for (Object[] line : lines.rows()) {
            total += ((Number) line[1]).doubleValue() * ((Number) line[2]).doubleValue();
        }
        return total;
    }
}
