package bookstore;

import java.sql.SQLException;

/** All details of an item. */
final class ProductDetail extends Interaction {
    private static final long serialVersionUID = 1L;

    ProductDetail(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query("SELECT * FROM item, author WHERE i_a_id = a_id AND i_id = ?", request.number("i_id")));
    }
}
