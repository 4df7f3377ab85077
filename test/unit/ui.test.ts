/** The components of pages, as HTML. */
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { expect, test } from "vitest";
import { isLong, LongList } from "../../extension/webview/navigator/longList";
import { Head, Link, Notes, ProfileTitle, ProgressBar } from "../../extension/webview/ui";

test("a long note shows its first sentence, and many notes are folded", () => {
  const long = `One sentence. ${"And more words. ".repeat(12)}`.trimEnd();
  expect(renderToString(h(Notes, { notes: ["Short.", long] }))).toMatch(
    /^<ul class="notes"><li>Short\.<\/li><li><details><summary>One sentence\..*<\/summary><span>.*more words\.<\/span><\/details><\/li><\/ul>$/,
  );
  expect(renderToString(h(Notes, { notes: [] }))).toBe("");
  const many = Array.from({ length: 40 }, (_, n) => `Note ${n}.`);
  expect(renderToString(h(Notes, { notes: many }))).toMatch(/<li>Note 0\.<\/li>.*<summary>.*more.*<\/summary><ul><li>/);
});

test("an unknown value has no number for screen readers", () => {
  expect(renderToString(h(ProgressBar, { label: "Refining", fraction: 0.417 }))).toContain('aria-valuenow="42"');
  const unknown = renderToString(h(ProgressBar, { label: "Refining", fraction: null }));
  expect(unknown).toContain('class="progress unknown"');
  expect(unknown).not.toContain("aria-valuenow");
});

test("names are text, never markup", () => {
  expect(renderToString(h(Link, { title: '"' }, "std::map<int, <b>>"))).toBe(
    '<button type="button" class="link" title="&quot;">std::map&lt;int, &lt;b>></button>',
  );
  expect(renderToString(h(ProfileTitle, { title: "<i>a.pb.gz − <i>b.pb.gz" }))).not.toContain("<i>");
});

test("columns have headings", () => {
  const columns = [{ text: "Call", title: "Who", kind: "text" }, { text: "" }] as const;
  expect(renderToString(h("table", {}, h(Head, { columns })))).toBe(
    '<table><thead><tr><th scope="col" title="Who" class="text">Call</th><th scope="col"></th></tr></thead></table>',
  );
});

test("a long list renders only what is visible", () => {
  const list = (count: number) =>
    renderToString(
      h(LongList, {
        class: "tags",
        label: "Labels",
        count,
        entry: (index) => h("b", {}, index),
        short: (places) => h("div", {}, places.join(" ")),
      }),
    );
  expect(isLong(3)).toBe(false);
  expect(list(3)).toBe("<div>0 1 2</div>");
  const long = list(5000);
  expect(long).toMatch(/role="list"[^>]*aria-label="Labels"/);
  expect(long.match(/role="listitem"/g)?.length).toBeLessThan(30);
  expect(long).toContain('aria-setsize="5000"');
});
