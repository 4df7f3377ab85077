package bookstore;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** `java bookstore.Main PORT DATABASE_PORT FOLDER [cache]`: the shop, until a signal ends it. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Database database = new Database(Integer.parseInt(arguments[1]));
        File folder = Files.createDirectories(new File(arguments[2]).toPath()).toFile();
        Cache cache = new Cache(arguments.length > 3);

        Logger.getLogger("org.apache").setLevel(Level.WARNING);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.getPath());
        tomcat.setPort(port);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxThreads", "200");
        tomcat.getConnector().setProperty("maxKeepAliveRequests", "-1");
        Context context = tomcat.addContext("/bookstore", folder.getPath());
        for (Interaction interaction : interactions(database, cache)) {
            Tomcat.addServlet(context, interaction.path(), interaction);
            context.addServletMappingDecoded("/" + interaction.path(), interaction.path());
        }
        tomcat.start();
        tomcat.getServer().await();
    }

    private static List<Interaction> interactions(Database database, Cache cache) {
        return List.of(
                new AdminConfirm(database),
                new AdminRequest(database),
                new BestSellers(database, cache),
                new BuyConfirm(database),
                new BuyRequest(database),
                new CustomerRegistration(database),
                new Home(database),
                new NewProducts(database),
                new OrderDisplay(database),
                new OrderInquiry(database),
                new ProductDetail(database),
                new SearchRequest(database),
                new SearchResults(database, cache),
                new ShoppingCart(database));
    }
}
