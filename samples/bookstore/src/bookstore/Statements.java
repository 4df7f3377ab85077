package bookstore;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** Statements on one connection. The thread waits for each. */
record Statements(Connection connection) {
    Rows query(String text, Object... values) throws SQLException {
        try (PreparedStatement statement = prepare(text, values); ResultSet result = statement.executeQuery()) {
            int columns = result.getMetaData().getColumnCount();
            List<Object[]> rows = new ArrayList<>();
            while (result.next()) {
                Object[] row = new Object[columns];
                for (int at = 0; at < columns; at++) {
                    row[at] = result.getObject(at + 1);
                }
                rows.add(row);
            }
            return new Rows(rows);
        }
    }

    void update(String text, Object... values) throws SQLException {
        try (PreparedStatement statement = prepare(text, values)) {
            statement.executeUpdate();
        }
    }

    /** Inserts a row and returns its generated key. */
    int insert(String text, Object... values) throws SQLException {
        try (PreparedStatement statement = prepare(text, values)) {
            statement.executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                keys.next();
                return keys.getInt(1);
            }
        }
    }

    private PreparedStatement prepare(String text, Object... values) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(text, Statement.RETURN_GENERATED_KEYS);
        for (int at = 0; at < values.length; at++) {
            statement.setObject(at + 1, values[at]);
        }
        return statement;
    }
}
