import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

/** A server on a free port, and its client in the same process. */
public class UseTomcat {
    public static class Answer extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            int n = Integer.parseInt(request.getParameter("n"));
            if (n % 50 == 49) {
                response.sendError(418, "no coffee");
                return;
            }
            response.getWriter().print("answer " + n * n);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Logger.getLogger("").setLevel(Level.OFF);
        Path folder = Files.createTempDirectory("tomcat");
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.toString());
        tomcat.setPort(0);
        tomcat.getConnector();
        Context context = tomcat.addContext("", folder.toString());
        Tomcat.addServlet(context, "answer", new Answer());
        context.addServletMappingDecoded("/*", "answer");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
        long sum = 0;
        int errors = 0;
        for (int n = 0; n < 200; n++) {
            HttpURLConnection connection = (HttpURLConnection) new URL("http://localhost:" + port + "/?n=" + n).openConnection();
            if (connection.getResponseCode() != 200) {
                errors++;
                continue;
            }
            try (InputStream in = connection.getInputStream()) {
                sum += new String(in.readAllBytes(), StandardCharsets.UTF_8).hashCode();
            }
        }
        tomcat.stop();
        tomcat.destroy();
        System.out.println(sum + " " + errors);
    }
}
