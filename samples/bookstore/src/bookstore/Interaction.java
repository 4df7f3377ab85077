package bookstore;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.Locale;

/**
 * One of TPC-W's fourteen interactions. Each has its own servlet and its own database user, so that the database's accounting
 * by user is an accounting by interaction.
 */
abstract class Interaction extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient Pool pool;

    Interaction(Database database) {
        pool = database.pool(path());
    }

    /** The last part of its URL, and the name of its database user. */
    final String path() {
        return getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    /** Queries the database and writes the page. */
    abstract void answer(Statements sql, Parameters request, Page page) throws SQLException;

    @Override
    protected final void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Page page = new Page(getClass().getSimpleName());
        Statements sql = null;
        try {
            sql = new Statements(pool.take());
            answer(sql, new Parameters(request), page);
            pool.giveBack(sql.connection());
        } catch (SQLException error) {
            if (sql != null) {
                pool.discard(sql.connection());
            }
            log(path(), error);
            response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR, error.getMessage());
            return;
        } catch (IllegalArgumentException error) {
            pool.giveBack(sql.connection());
            response.sendError(HttpServletResponse.SC_BAD_REQUEST, error.getMessage());
            return;
        }
        page.send(response);
    }
}
