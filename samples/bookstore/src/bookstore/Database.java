package bookstore;

/** The database. */
record Database(int port) {
    /** A user's connections. */
    Pool pool(String user) {
        return new Pool("jdbc:mariadb://127.0.0.1:" + port + "/bookstore", user);
    }
}
