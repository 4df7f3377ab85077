package bookstore;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.concurrent.ConcurrentLinkedDeque;

/** One user's idle connections. If there is none, a new one is opened. */
final class Pool {
    private final String address;
    private final String user;
    private final ConcurrentLinkedDeque<Connection> free = new ConcurrentLinkedDeque<>();

    Pool(String address, String user) {
        this.address = address;
        this.user = user;
    }

    Connection take() throws SQLException {
        Connection connection = free.pollFirst();
        return connection == null ? DriverManager.getConnection(address, user, null) : connection;
    }

    void giveBack(Connection connection) {
        free.addFirst(connection);
    }

    /** Closes a connection whose state is unknown. */
    void discard(Connection connection) {
        try {
            connection.close();
        } catch (SQLException alreadyGone) {
            System.err.println(user + ": " + alreadyGone.getMessage());
        }
    }
}
