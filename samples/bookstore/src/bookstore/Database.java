package bookstore;

/** Where the database is. */
record Database(int port) {
    /** Connections of a user. */
    Pool pool(String user) {
        return new Pool("jdbc:mariadb://127.0.0.1:" + port + "/bookstore", user);
    }
}
