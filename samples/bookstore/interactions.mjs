/** TPC-W's fourteen interactions: how often browsers make them, and what they request. */

/** @typedef {import("./browsers.mjs").Browser} Browser */

const SUBJECTS = 24;
/** Parts of titles and names that browsers search for. schema.mjs builds titles and names from such parts. */
const SYLLABLES = ["BA", "RE", "TI", "LO", "NU", "SE", "MA", "KI", "DO", "FU"];

const item = (browser) => browser.draw(browser.shop.items);
const customer = (browser) => `c_id=${browser.customer}`;
const subject = (browser) => `subject=SUBJECT${browser.draw(SUBJECTS)}`;
const syllables = (browser) => [0, 1].map(() => SYLLABLES[browser.draw(SYLLABLES.length) - 1]).join("");

function search(browser) {
  const by = ["subject", "title", "author"][browser.draw(3) - 1];
  const wanted = by === "subject" ? `SUBJECT${browser.draw(SUBJECTS)}` : syllables(browser);
  return `by=${by}&wanted=${wanted}`;
}

/**
 * Each interaction's share of TPC-W's browsing mix in percent (clause 5.3), and its query string. `needsCart`: a browser
 * without a cart gets one first. `isKept`: with `--cache`, the shop keeps its results.
 * @type {Record<string, { share: number, query: (browser: Browser) => string, needsCart?: boolean, isKept?: boolean }>}
 */
export const INTERACTIONS = {
  Home: { share: 29.0, query: (it) => `${customer(it)}&i_id=${item(it)}` },
  NewProducts: { share: 11.0, query: subject },
  BestSellers: { share: 11.0, query: subject, isKept: true },
  ProductDetail: { share: 21.0, query: (it) => `i_id=${item(it)}` },
  SearchRequest: { share: 12.0, query: (it) => `i_id=${item(it)}` },
  SearchResults: { share: 11.0, query: search, isKept: true },
  ShoppingCart: { share: 2.0, query: (it) => `i_id=${item(it)}&qty=${it.draw(3)}${it.cart ? `&sc_id=${it.cart}` : ""}` },
  CustomerRegistration: { share: 0.82, query: customer },
  BuyRequest: { share: 0.75, query: (it) => `${customer(it)}&sc_id=${it.cart}`, needsCart: true },
  BuyConfirm: { share: 0.69, query: (it) => `${customer(it)}&sc_id=${it.cart}`, needsCart: true },
  OrderInquiry: { share: 0.3, query: customer },
  OrderDisplay: { share: 0.25, query: customer },
  AdminRequest: { share: 0.1, query: (it) => `i_id=${item(it)}` },
  AdminConfirm: { share: 0.09, query: (it) => `i_id=${item(it)}&cost=${it.draw(100)}` },
};

/** The mix as cumulative sums, with the given shares for the administrator's two interactions instead of TPC-W's. */
export function mix(adminShare) {
  let sum = 0;
  return Object.entries(INTERACTIONS).map(([name, { share }]) => {
    sum += name.startsWith("Admin") ? (adminShare ?? share) : share;
    return { name, upTo: sum };
  });
}
