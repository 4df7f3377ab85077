package bookstore;

import jakarta.servlet.http.HttpServletRequest;

/** The parameters of a browser's request. */
record Parameters(HttpServletRequest request) {
    /** @throws IllegalArgumentException if it is missing or not a number */
    int number(String name) {
        String text = text(name);
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException error) {
            throw new IllegalArgumentException(name + " is not a number: " + text, error);
        }
    }

    /** @throws IllegalArgumentException if it is missing */
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
