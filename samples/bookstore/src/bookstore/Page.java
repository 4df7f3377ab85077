package bookstore;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The page with an interaction's answer. */
final class Page {
    private final StringBuilder html = new StringBuilder(4096);
    private int cart;

    Page(String title) {
        html.append("<!doctype html><title>").append(title).append("</title><h1>").append(title).append("</h1>\n");
    }

    void line(Object... cells) {
        html.append("<p>");
        for (Object cell : cells) {
            escape(String.valueOf(cell));
            html.append(' ');
        }
        html.append("</p>\n");
    }

    void rows(Rows rows) {
        for (Object[] row : rows.rows()) {
            line(row);
        }
    }

    /** The browser's cart from now on. */
    void cart(int number) {
        cart = number;
    }

    void send(HttpServletResponse response) throws IOException {
        byte[] bytes = html.toString().getBytes(StandardCharsets.UTF_8);
        response.setContentType("text/html;charset=UTF-8");
        response.setContentLength(bytes.length);
        if (cart > 0) {
            response.setIntHeader("X-Cart", cart);
        }
        response.getOutputStream().write(bytes);
    }

    private void escape(String text) {
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            switch (c) {
                case '<' -> html.append("&lt;");
                case '>' -> html.append("&gt;");
                case '&' -> html.append("&amp;");
                default -> html.append(c);
            }
        }
    }
}
