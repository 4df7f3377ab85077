/** The parts of a transactional profile's page, as HTML. */
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { Crosstalk, type Pair } from "../../extension/webview/transactions/transactionsCrosstalk";
import { Stages } from "../../extension/webview/transactions/transactionsDiagram";
import { WayView } from "../../extension/webview/transactions/transactionsWay";
import { flow, openedOf, pair, shownOf, stay, type, way } from "./makeTransactions";

const nothing = () => undefined;

function crosstalk(pairs: ReturnType<typeof pair>[], first: Pair | null = null): string {
  const waitNs = pairs.reduce((sum, it) => sum + it.waitNs, 0);
  const props = { crosstalk: { waitNs, pairs, notes: [] }, first, chosen: nothing, go: nothing, measure: nothing };
  return renderToString(h(Crosstalk, props));
}

test("crosstalk has a cell for each pair that waited, and one tab stop", () => {
  const html = crosstalk([pair("GET /a", "GET /b", 4e6), pair("GET /b", "GET /a", 1e6)]);
  expect(html.match(/class="heat cell"/g)?.length).toBe(2);
  expect(html.match(/tabindex="0"/gi)?.length).toBe(1);
  expect(html).toContain('id="pair"');
  expect(html).not.toContain("<h3>");
});

test("an open pair stays open when the run is reloaded", () => {
  const html = crosstalk([pair("GET /a", "GET /b", 4e6)], { waiter: "GET /a", holder: "GET /b" });
  expect(html).toContain(">GET /a waits for GET /b</h3>");
});

test("without crosstalk the page says so", () => {
  const html = crosstalk([]);
  expect(html).toContain("No transaction waited for another one at a lock.");
  expect(html).not.toContain("<table");
});

test("stages are boxes, flows are arrows with counts, and both have text", () => {
  const opened = openedOf({ shown: shownOf({ flows: [flow("shop/ask", "back/serve", 12)] }) });
  const html = renderToString(h(Stages, { opened, go: nothing }));
  expect(html.match(/class="box place/g)?.length).toBe(2);
  expect(html).toMatch(/<text class="count"[^>]*>12<\/text>/);
  expect(html).toContain('class="flow message"');
  expect(html).toMatch(/<ul class="unseen"><li>ask → serve: 12\sflows by message<\/li><\/ul>/);
  expect(renderToString(h(Stages, { opened: openedOf(), go: nothing }))).toContain("There is nothing to draw");
});

test("a transaction has a lane for each thread, and the slowest transaction is shown first", () => {
  const stays = [stay("shop/front", "", 0, 1), stay("backend/serve", "serve", 1, 3)];
  const ways = [way("GET /a", 3, stays), way("GET /a", 9, stays)];
  const opened = openedOf({ shown: shownOf({ types: [type("GET /a")] }), ways });
  const html = renderToString(h(WayView, { opened, first: "", chosen: nothing, go: nothing }));
  expect(html.match(/class="lane"/g)?.length).toBe(2);
  expect(html.match(/class="stay /g)?.length).toBe(2);
  expect(html).toMatch(/<option[^>]*>1\. 9\.?0*\sms, 2 threads<\/option>/);
  expect(html.match(/tabindex="0"/gi)?.length).toBe(2);
  const empty = renderToString(h(WayView, { opened: openedOf(), first: "", chosen: nothing, go: nothing }));
  expect(empty).toContain("No transaction began in a recorded process.");
});
