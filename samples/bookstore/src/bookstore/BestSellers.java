package bookstore;

import java.sql.SQLException;

/** The best sellers of a subject in the latest orders: a heavy query that reads, joins, groups and sorts. */
final class BestSellers extends Interaction {
    private static final long serialVersionUID = 1L;

    private final transient Cache cache;

    BestSellers(Database database, Cache cache) {
        super(database);
        this.cache = cache;
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        String subject = request.text("subject");
        page.rows(cache.forAWhile(subject, () -> sql.query(
                """
                SELECT i_id, i_title, a_fname, a_lname FROM item, author, order_line
                WHERE i_id = ol_i_id AND i_a_id = a_id AND i_subject = ?
                  AND ol_o_id > (SELECT MAX(o_id) - 3333 FROM orders)
                GROUP BY i_id, i_title, a_fname, a_lname ORDER BY SUM(ol_qty) DESC LIMIT 50
                """,
                subject)));
    }
}
