/** The section of docs/accuracy.md on the bookstore. */
import { INTERACTIONS } from "../../../samples/bookstore/interactions.mjs";
import { shares, sum, typeName, waited } from "./account.mjs";

/** Above this load others use the machine. */
const QUIET = 0.5;
/** The interactions that the repairs are for. */
const HEAVY = ["AdminConfirm", "BestSellers", "SearchResults"];
/** Those whose results the second one keeps. */
const HITS = ["BestSellers", "SearchResults"];

export function report(journal) {
  const { machine, fulcrum, load } = journal.get("machine");
  const shop = journal.get("myisam");
  const others = `\nOthers used the machine at the same time (load ${load.toFixed(1)} at the beginning).`;
  const busy = load > QUIET ? others : "";
  const { options, interactions } = shop;
  return `## The bookstore

The shop of Whodunit §8.4 (\`samples/bookstore\`): haproxy, Tomcat and MariaDB, recorded together by \`fulcrum transactions run\`,
with ${options.browsers} emulated browsers for ${Math.round(shop.seconds)} s, ${options.items.toLocaleString("en")} items, tables of MyISAM, and TPC-W's browsing mix with ${options.adminShare} % each of
AdminRequest and AdminConfirm instead of 0.1 %. ${journal.dates()} on ${machine}; ${fulcrum}.${busy}

*Pages* are those that the browsers got; *found* are transactions under the interaction's name. MariaDB's own *CPU* time is from
\`userstat\`, because each interaction has its own database user. Shares are fractions of the fourteen together. *Waits* are for table
locks; MariaDB's own numbers are from its performance schema.

| interaction | pages | found | CPU | MariaDB: CPU | waits | MariaDB: waits |
| --- | --: | --: | --: | --: | --: | --: |
${rows(interactions).join("\n")}

MariaDB spent another ${seconds(shop.otherCpu)} of CPU time on none of the fourteen.

${crosstalk(interactions, journal.get("item").interactions)}

${repairs(journal)}

${predicted(journal)}`;
}

function rows(interactions) {
  const [ours, own] = [shares(interactions, "fulcrum"), shares(interactions, "own")];
  const rows = interactions.map(({ name, pages, found, wait }, at) => {
    const cpu = [ours[at], own[at]].map((it) => `${it.toFixed(2)} %`).join(" | ");
    return `| ${name} | ${pages} | ${found} | ${cpu} | ${seconds(wait.fulcrum)} | ${seconds(wait.own)} |`;
  });
  const all = ["fulcrum", "own"].map((by) => sum(interactions.map((it) => it.cpu[by])).toFixed(2));
  const waits = ["fulcrum", "own"].map((by) => seconds(waited(interactions, by)));
  const counts = ["pages", "found"].map((of) => sum(interactions.map((it) => it[of])));
  return [
    ...rows,
    `| **all** | ${counts.join(" | ")} | ${all.map((it) => `${it} s`).join(" | ")} | ${waits.join(" | ")} |`,
  ];
}

function crosstalk(before, after) {
  const of = (all) => all.find(({ name }) => name === "AdminConfirm");
  const [myisam, innodb] = [of(before), of(after)];
  const behind = Object.entries(myisam.behind).sort(([, a], [, b]) => b - a);
  const rows = behind.map(
    ([holder, time]) => `| ${holder} | ${seconds(time)} | ${seconds(innodb.behind[holder] ?? 0)} |`,
  );
  return `For whom ${typeName("AdminConfirm")} waited, at locks of tables:

| behind | all MyISAM | item InnoDB |
| --- | --: | --: |
${rows.join("\n")}
| **all** | ${seconds(myisam.wait.fulcrum)} | ${seconds(innodb.wait.fulcrum)} |
| by MariaDB's own account | ${seconds(myisam.wait.own)} | ${seconds(innodb.wait.own)} |`;
}

const SHOPS = {
  myisam: "as it was",
  item: "`item` an InnoDB table",
  cache: "BestSellers and SearchResults kept",
};

/** What the two repairs of §8.4 bring; Figures 11 and 12 when nobody else used the machine. */
function repairs(journal) {
  const [before, item, cache] = Object.keys(SHOPS).map((key) => journal.get(key).interactions);
  const text = `The two fixes of §8.4, by MariaDB's own numbers: with \`item\` as an InnoDB table, AdminConfirm waits ${adminWait(item)} for tables, and
${adminWait(before)} before; with cached results of BestSellers and SearchResults, a page takes ${cpuOfPage(cache)} of its CPU time, and ${cpuOfPage(before)}
before.`;
  if (journal.get("machine").load > QUIET) {
    return `${text} Response times (Figures 11 and 12) are left out: the load by others on the machine varied.`;
  }
  const times = Object.entries(SHOPS).map(([key, shop]) => [shop, ...response(journal.get(key))]);
  const head = ["shop", ...HEAVY, "pages"];
  return `${text}\n\nMean response times, and pages a minute (Figures 11 and 12):\n\n${table(head, times)}`;
}

/** What `fulcrum transactions what-if` predicted from the run before, beside what the repairs brought. */
function predicted(journal) {
  const before = journal.get("myisam");
  const { item, cache } = before.predictions;
  const made = (key) => journal.get(key).times;
  const hits = HITS.map((name) => {
    const [, share] = cache.options.find((it) => it.startsWith(`${typeName(name)}=`)).split("=");
    return `${(100 * Number(share)).toFixed(0)} % of ${name}`;
  });
  const [ofItem, ofCache] = [
    { now: before.times, predicted: item.times, made: made("item") },
    { now: before.times, predicted: cache.times, made: made("cache") },
  ];
  return `### Both repairs, predicted and made

\`fulcrum transactions what-if\` predicted from the run with all tables of MyISAM what each repair would bring, before it was made.
Times are those that Fulcrum records at haproxy, from the first byte of the request to the last byte of the page, in milliseconds.
Brackets contain 95 % intervals. *CPU* is that of all three tiers for one page. A prediction leaves all other work as it was: where
the CPU time of a page differs from the predicted one, so does its response time.

**\`item\` becomes InnoDB**: predicted with \`${shell(item.options)}\`. ${verdict(ofItem)}

${compared(ofItem)}

**Results are kept**: predicted with \`${shell(cache.options)}\`.
These shares, ${hits.join(" and ")}, are those that would have found their results kept in the run before. ${verdict(ofCache)}

${compared(ofCache)}`;
}

function shell(options) {
  return options.map((it) => (it.includes(" ") ? `"${it}"` : it)).join(" ");
}

/** One row for each interaction. */
function compared({ now, predicted, made }) {
  const bracketed = ({ value, low, high }) => `${ms(value)} (${ms(low)}…${ms(high)})`;
  const rows = Object.keys(INTERACTIONS).map((name) => {
    const [a, b, c] = [now, predicted, made].map((it) => it[typeName(name)]);
    const mean = [ms(a.mean.value), bracketed(b.mean), bracketed(c.mean)];
    const p95 = [ms(a.p95.value), bracketed(b.p95), bracketed(c.p95)];
    return [name, ...mean, ...p95, ...[a, b, c].map((it) => it.cpu.toFixed(2))];
  });
  const three = (of) => [`${of}: before`, "predicted", "made"];
  return table(["interaction", ...three("mean"), ...three("p95"), ...three("CPU")], rows);
}

/** How many of the predicted means are those that were measured, as far as both are known. */
function verdict({ predicted, made }) {
  const all = Object.keys(INTERACTIONS).map((name) => [
    name,
    predicted[typeName(name)].mean,
    made[typeName(name)].mean,
  ]);
  const faster = all.filter(([, a, b]) => b.high < a.low).map(([name]) => name);
  const slower = all.filter(([, a, b]) => b.low > a.high).map(([name]) => name);
  const list = (what, names) => (names.length > 0 ? ` ${what} than predicted: ${names.join(", ")}.` : "");
  const agree = all.length - faster.length - slower.length;
  const off = `${list("Faster", faster)}${list("Slower", slower)}`;
  return `Of the ${all.length} means, ${agree} agree within both intervals.${off}`;
}

function ms(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(1);
}

function adminWait(interactions) {
  const { wait, pages } = interactions.find(({ name }) => name === "AdminConfirm");
  return `${((1000 * wait.own) / pages).toPrecision(2)} ms`;
}

function cpuOfPage(interactions) {
  const seconds = sum(interactions.map((it) => it.cpu.own)) / sum(interactions.map((it) => it.pages));
  return `${(1000 * seconds).toFixed(2)} ms`;
}

function response({ interactions, seconds: took }) {
  const means = HEAVY.map((name) => `${interactions.find((it) => it.name === name).mean.toFixed(0)} ms`);
  return [...means, ((60 * sum(interactions.map((it) => it.pages))) / took).toFixed(0)];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

function seconds(value) {
  return value > 0 && value < 0.005 ? `${(1000 * value).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}
