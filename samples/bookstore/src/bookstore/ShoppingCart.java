package bookstore;

import java.sql.SQLException;

/** Puts an item into the browser's cart, which is created if necessary, and shows the cart. */
final class ShoppingCart extends Interaction {
    private static final long serialVersionUID = 1L;

    ShoppingCart(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        int cart = request.has("sc_id")
                ? request.number("sc_id")
                : sql.insert("INSERT INTO cart (sc_time) VALUES (NOW())");
        sql.update(
                """
                INSERT INTO cart_line (scl_sc_id, scl_i_id, scl_qty) VALUES (?, ?, ?)
                ON DUPLICATE KEY UPDATE scl_qty = scl_qty + VALUES(scl_qty)
                """,
                cart, request.number("i_id"), request.number("qty"));
        sql.update("UPDATE cart SET sc_time = NOW() WHERE sc_id = ?", cart);
        page.rows(Cart.lines(sql, cart));
        page.cart(cart);
    }
}
