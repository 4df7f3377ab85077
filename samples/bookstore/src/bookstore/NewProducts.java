package bookstore;

import java.sql.SQLException;

/** The newest items of a subject. */
final class NewProducts extends Interaction {
    private static final long serialVersionUID = 1L;

    NewProducts(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(sql.query(
                """
                SELECT i_id, i_title, a_fname, a_lname FROM item, author
                WHERE i_a_id = a_id AND i_subject = ? ORDER BY i_pub_date DESC, i_title LIMIT 50
                """,
                request.text("subject")));
    }
}
