import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** An in-memory database: rows, an index, a join. With an argument, it prints its process id and runs forever. */
public class UseH2 {
    public static void main(String[] arguments) throws Exception {
        boolean forever = arguments.length > 0;
        if (forever) {
            System.out.println(ProcessHandle.current().pid());
        }
        do {
            use();
        } while (forever);
    }

    private static void use() throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:")) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("create table item (id int primary key, name varchar, price decimal(10, 2))");
                statement.execute("create table sale (item int references item, amount int)");
            }
            try (PreparedStatement insert = connection.prepareStatement("insert into item values (?, ?, ?)")) {
                for (int i = 0; i < 500; i++) {
                    insert.setInt(1, i);
                    insert.setString(2, "item " + i * 7919 % 500);
                    insert.setBigDecimal(3, new java.math.BigDecimal(i * 37 % 1000).movePointLeft(2));
                    insert.execute();
                }
            }
            try (PreparedStatement insert = connection.prepareStatement("insert into sale values (?, ?)")) {
                for (int i = 0; i < 1000; i++) {
                    insert.setInt(1, i * 31 % 500);
                    insert.setInt(2, i % 9);
                    insert.execute();
                }
            }
            String query = "select name, sum(price * amount) as total from item join sale on item.id = sale.item"
                    + " group by name having sum(amount) > 3 order by total desc, name limit 5";
            try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
                while (rows.next()) {
                    System.out.println(rows.getString(1) + " " + rows.getBigDecimal(2));
                }
            }
            try (Statement statement = connection.createStatement()) {
                statement.execute("insert into item values (1, 'twice', 1)");
            } catch (java.sql.SQLException expected) {
                System.out.println(expected.getErrorCode());
            }
        }
    }
}
