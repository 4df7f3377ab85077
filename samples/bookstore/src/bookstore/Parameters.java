package bookstore;

import jakarta.servlet.http.HttpServletRequest;

/** What a browser asks for. */
record Parameters(HttpServletRequest request) {
    /** @throws IllegalArgumentException when it is missing or no number */
    int number(String name) {
        String text = text(name);
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException(name + " is no number: " + text, error);
        }
    }

    /** @throws IllegalArgumentException when it is missing */
    String text(String name) {
        String value = request.getParameter(name);
        if (value == null) {
            throw new IllegalArgumentException("The parameter " + name + " is missing.");
        }
        return value;
    }

    boolean has(String name) {
        return request.getParameter(name) != null;
    }
}
