package bookstore;

import java.sql.SQLException;

/** The form for changing an item. */
final class AdminRequest extends Interaction {
    private static final long serialVersionUID = 1L;

    AdminRequest(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query(
                """
                SELECT i_id, i_title, a_fname, a_lname, i_cost, i_image, i_thumbnail
                FROM item, author WHERE i_a_id = a_id AND i_id = ?
                """,
                request.number("i_id")));
    }
}
