package bookstore;

import java.sql.SQLException;

/** The first page: the customer's name, and recommendations. */
final class Home extends Interaction {
    private static final long serialVersionUID = 1L;

    Home(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query("SELECT c_fname, c_lname FROM customer WHERE c_id = ?", request.number("c_id")));
        page.rows(Related.items(sql, request.number("i_id")));
    }
}
