package bookstore;

import java.sql.SQLException;

/** The form for a customer's name and address, filled in for known customers. */
final class CustomerRegistration extends Interaction {
    private static final long serialVersionUID = 1L;

    CustomerRegistration(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query("SELECT c_uname, c_fname, c_lname FROM customer WHERE c_id = ?", request.number("c_id")));
    }
}
