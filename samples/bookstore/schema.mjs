/** The tables of TPC-W (clause 1.2) that the interactions need, and their content. */
import { INTERACTIONS } from "./interactions.mjs";

/** Numbers of rows by TPC-W's rules: a quarter as many authors as items, 2,880 customers per unit of scale, 0.9 orders each. */
export function sizes({ items, customers }) {
  return { items, customers, authors: Math.ceil(items / 4), orders: Math.ceil(0.9 * customers) };
}

/** Two or three syllables that differ from row to row. */
const name = (seed, count) =>
  `CONCAT(${Array.from(
    { length: count },
    (_, n) => `ELT(1 + CRC32(CONCAT(${seed}, ':${n}')) % 10, 'BA','RE','TI','LO','NU','SE','MA','KI','DO','FU')`,
  ).join(", ")})`;

/** An integer from 1 to `most` that differs from row to row. */
const draw = (seed, salt, most) => `1 + CRC32(CONCAT(${seed}, '${salt}')) % ${most}`;

/**
 * SQL that recreates the shop, with a database user for each interaction.
 * @param {{ engine: string, itemEngine: string, items: number, customers: number }} options
 */
export function schema(options) {
  const { items, customers, authors, orders } = sizes(options);
  const { engine, itemEngine } = options;
  const users = Object.keys(INTERACTIONS).map((it) => it.toLowerCase());
  return `
CREATE DATABASE bookstore CHARACTER SET latin1;
USE bookstore;
CREATE TABLE author (a_id INT PRIMARY KEY, a_fname VARCHAR(20), a_lname VARCHAR(20), a_bio TEXT) ENGINE=${engine};
CREATE TABLE item (
  i_id INT PRIMARY KEY, i_title VARCHAR(60), i_a_id INT, i_pub_date DATE, i_subject VARCHAR(20), i_desc VARCHAR(500),
  i_related1 INT, i_related2 INT, i_related3 INT, i_related4 INT, i_related5 INT,
  i_thumbnail VARCHAR(40), i_image VARCHAR(40), i_cost DOUBLE, i_stock INT,
  KEY (i_subject), KEY (i_a_id)) ENGINE=${itemEngine};
CREATE TABLE address (addr_id INT PRIMARY KEY, addr_street VARCHAR(40), addr_city VARCHAR(30)) ENGINE=${engine};
CREATE TABLE customer (
  c_id INT PRIMARY KEY, c_uname VARCHAR(20), c_fname VARCHAR(20), c_lname VARCHAR(20), c_addr_id INT, c_login DATETIME,
  c_discount DOUBLE) ENGINE=${engine};
CREATE TABLE orders (
  o_id INT AUTO_INCREMENT PRIMARY KEY, o_c_id INT, o_date DATETIME, o_total DOUBLE, o_status VARCHAR(16),
  KEY (o_c_id)) ENGINE=${engine};
CREATE TABLE order_line (
  ol_id INT AUTO_INCREMENT PRIMARY KEY, ol_o_id INT, ol_i_id INT, ol_qty INT, KEY (ol_o_id), KEY (ol_i_id)) ENGINE=${engine};
CREATE TABLE cc_xacts (cx_o_id INT PRIMARY KEY, cx_type VARCHAR(10), cx_amount DOUBLE) ENGINE=${engine};
CREATE TABLE cart (sc_id INT AUTO_INCREMENT PRIMARY KEY, sc_time DATETIME) ENGINE=${engine};
CREATE TABLE cart_line (scl_sc_id INT, scl_i_id INT, scl_qty INT, PRIMARY KEY (scl_sc_id, scl_i_id)) ENGINE=${engine};

INSERT INTO author SELECT seq, ${name("seq", 2)}, ${name("seq + 7", 3)}, REPEAT('bio ', 50) FROM seq_1_to_${authors};
INSERT INTO item SELECT
  seq, CONCAT(${name("seq", 3)}, ' ', ${name("seq + 3", 3)}), ${draw("seq", "a", authors)},
  '2020-01-01' + INTERVAL (CRC32(seq) % 2000) DAY, CONCAT('SUBJECT', ${draw("seq", "s", 24)}), REPEAT('text ', 60),
  ${[1, 2, 3, 4, 5].map((n) => draw("seq", `r${n}`, items)).join(", ")},
  CONCAT('img/thumb_', seq, '.gif'), CONCAT('img/', seq, '.gif'), ${draw("seq", "c", 100)}, ${draw("seq", "t", 30)}
  FROM seq_1_to_${items};
INSERT INTO address SELECT seq, CONCAT(seq, ' ', ${name("seq", 3)}), ${name("seq + 1", 2)} FROM seq_1_to_${customers};
INSERT INTO customer SELECT
  seq, CONCAT('U', seq), ${name("seq", 2)}, ${name("seq + 5", 3)}, seq, NOW(), (CRC32(seq) % 50) / 100
  FROM seq_1_to_${customers};
INSERT INTO orders SELECT seq, ${draw("seq", "o", customers)}, NOW(), ${draw("seq", "x", 300)}, 'SHIPPED' FROM seq_1_to_${orders};
INSERT INTO order_line (ol_o_id, ol_i_id, ol_qty)
  SELECT o.seq, 1 + CRC32(CONCAT(o.seq, 'i', l.seq)) % ${items}, 1 + CRC32(CONCAT(o.seq, 'q', l.seq)) % 5
  FROM seq_1_to_${orders} o, seq_1_to_3 l;
ANALYZE TABLE author, item, customer, orders, order_line;

${users.map((user) => `CREATE USER '${user}'@'%'; GRANT ALL ON bookstore.* TO '${user}'@'%';`).join("\n")}
`;
}
