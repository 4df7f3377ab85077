package bookstore;

import java.sql.SQLException;

/** Changes an item, and recomputes which five items are shown beside it: those that its buyers also bought. */
final class AdminConfirm extends Interaction {
    private static final long serialVersionUID = 1L;

    AdminConfirm(Database database) {
        super(database);
    }

    @Override
    void answer(Statements sql, Parameters request, Page page) throws SQLException {
        int item = request.number("i_id");
        sql.update(
                "UPDATE item SET i_cost = ?, i_image = ?, i_thumbnail = ?, i_pub_date = CURDATE() WHERE i_id = ?",
                request.number("cost"), "img/" + item + ".gif", "img/thumb_" + item + ".gif", item);
        Rows bought = sql.query(
                """
                SELECT ol_i_id FROM orders, order_line
                WHERE o_id = ol_o_id AND ol_i_id <> ? AND o_c_id IN (
                    SELECT o_c_id FROM orders, order_line
                    WHERE o_id = ol_o_id AND o_id > (SELECT MAX(o_id) - 10000 FROM orders) AND ol_i_id = ?)
                GROUP BY ol_i_id ORDER BY SUM(ol_qty) DESC LIMIT 5
                """,
                item, item);
        int[] related = new int[5];
        for (int at = 0; at < related.length; at++) {
            related[at] = at < bought.rows().size() ? ((Number) bought.rows().get(at)[0]).intValue() : 1 + (item + at) % 50;
        }
        sql.update(
                """
                UPDATE item SET i_related1 = ?, i_related2 = ?, i_related3 = ?, i_related4 = ?, i_related5 = ?
                WHERE i_id = ?
                """,
                related[0], related[1], related[2], related[3], related[4], item);
        page.line("Item", item);
    }
}
