package bookstore;

import java.sql.SQLException;

/** The form of the search, with what might please. */
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
