package bookstore;

import java.sql.SQLException;

/** The results of a search by subject, title or author. Parts of titles and authors match. */
final class SearchResults extends Interaction {
    private static final long serialVersionUID = 1L;
    private static final String SELECT =
            "SELECT i_id, i_title, a_fname, a_lname FROM item, author WHERE i_a_id = a_id AND ";

    private final transient Cache cache;

    SearchResults(Database database, Cache cache) {
        super(database);
        this.cache = cache;
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        String by = request.text("by");
        String wanted = request.text("wanted");
        Cache.Find find = () -> sql.query(SELECT + condition(by) + " ORDER BY i_title LIMIT 50", value(by, wanted));
        String key = by + " " + wanted;
        page.rows(by.equals("subject") ? cache.forAWhile(key, find) : cache.forEver(key, find));
    }

    private static String condition(String by) {
        return switch (by) {
            case "subject" -> "i_subject = ?";
            case "title" -> "i_title LIKE ?";
            case "author" -> "a_lname LIKE ?";
            default -> throw new IllegalArgumentException("The shop cannot search by " + by + ".");
        };
    }

    private static String value(String by, String wanted) {
        return by.equals("subject") ? wanted : "%" + wanted + "%";
    }
}
