import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** An in-memory database whose units of work are small transactions. Prints their sum. */
public class RefineH2 {
    private final PreparedStatement find;
    private final PreparedStatement change;
    private final PreparedStatement report;
    private long sum;

    private RefineH2(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement()) {
            statement.execute("create table item (id int primary key, name varchar, price int)");
            statement.execute("create index by_price on item (price)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into item values (?, ?, ?)")) {
            for (int i = 0; i < 1000; i++) {
                insert.setInt(1, i);
                insert.setString(2, "item " + i * 7919 % 1000);
                insert.setInt(3, i * 37 % 100);
                insert.execute();
            }
        }
        find = connection.prepareStatement("select name, price from item where id = ?");
        change = connection.prepareStatement("update item set price = ? where id = ?");
        report = connection.prepareStatement("select price, count(*), min(name) from item where price < 20 group by price");
    }

    /** Looks up twenty rows, changes two, and adds up the cheap ones. */
    void unit(int number) throws Exception {
        for (int i = 0; i < 20; i++) {
            find.setInt(1, (number * 31 + i * 17) % 1000);
            try (ResultSet rows = find.executeQuery()) {
                while (rows.next()) {
                    sum += rows.getString(1).length() + rows.getInt(2);
                }
            }
        }
        for (int i = 0; i < 2; i++) {
            change.setInt(1, (number + i) % 100);
            change.setInt(2, number * 13 % 1000);
            sum += change.executeUpdate();
        }
        try (ResultSet rows = report.executeQuery()) {
            while (rows.next()) {
                sum += rows.getInt(1) * rows.getLong(2) + rows.getString(3).length();
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        int units = Integer.parseInt(arguments[0]);
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
            RefineH2 work = new RefineH2(connection);
            for (int number = 0; number < units; number++) {
                work.unit(number);
            }
            System.out.println(work.sum);
        }
    }
}
