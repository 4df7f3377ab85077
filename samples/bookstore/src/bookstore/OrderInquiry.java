package bookstore;

import java.sql.SQLException;

/** The form for looking up an order. */
final class OrderInquiry extends Interaction {
    private static final long serialVersionUID = 1L;

    OrderInquiry(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query("SELECT c_uname FROM customer WHERE c_id = ?", request.number("c_id")));
    }
}
