package bookstore;

import java.sql.SQLException;

/** The search form, with recommendations. */
final class SearchRequest extends Interaction {
    private static final long serialVersionUID = 1L;

    SearchRequest(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        page.rows(Related.items(sql, request.number("i_id")));
    }
}
