package bookstore;

import java.sql.SQLException;

/** Shows the cart and the customer's address before the purchase. */
final class BuyRequest extends Interaction {
    private static final long serialVersionUID = 1L;

    BuyRequest(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query(
                """
                SELECT c_fname, c_lname, c_discount, addr_street, addr_city FROM customer, address
                WHERE c_addr_id = addr_id AND c_id = ?
                """,
                request.number("c_id")));
        sql.update("UPDATE customer SET c_login = NOW() WHERE c_id = ?", request.number("c_id"));
        page.rows(Cart.lines(sql, request.number("sc_id")));
    }
}
