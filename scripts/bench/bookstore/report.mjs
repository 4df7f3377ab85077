/** The section of docs/accuracy.md on the bookstore. */
import { shares, sum, typeName, waited } from "./account.mjs";

export function report(journal) {
  const { machine, fulcrum, load } = journal.get("machine");
  const shop = journal.get("myisam");
  const busy =
    load > 0.5 ? ` Others used the machine at the same time (load ${load.toFixed(1)} at the beginning).` : "";
  const { options, interactions } = shop;
  return `## The bookstore

The shop of Whodunit §8.4 (\`samples/bookstore\`): haproxy, Tomcat and MariaDB, recorded together by \`fulcrum transactions run\`, with
${options.browsers} emulated browsers for ${Math.round(shop.seconds)} s, ${options.items.toLocaleString("en")} items, tables of MyISAM, TPC-W's browsing mix with ${options.adminShare} % each of AdminRequest and
AdminConfirm instead of 0.1 %. ${machine}; ${fulcrum}; ${journal.dates()}.${busy}

*Found* are transactions under the interaction's name, beside the pages that the browsers got. MariaDB's own account of *CPU* is
\`userstat\`: each interaction has a database user of its own. Shares are those of the fourteen together. *Waits* are those for locks of
tables; MariaDB's own are its performance schema's.

| interaction | pages | found | CPU | MariaDB: CPU | waits | MariaDB: waits |
| --- | --: | --: | --: | --: | --: | --: |
${rows(interactions).join("\n")}

${outside(shop)}

${crosstalk(interactions, journal.get("item").interactions)}

${repairs(journal)}`;
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

/** What MariaDB did for none of the interactions, and why small statements have more CPU time by Fulcrum's account. */
function outside({ interactions, otherCpu }) {
  const light = interactions.filter((it) => it.cpu.own / it.commands < 0.0005);
  const [more, commands] = [sum(light.map((it) => it.cpu.fulcrum - it.cpu.own)), sum(light.map((it) => it.commands))];
  const each = Math.round((1e6 * more) / commands);
  return `MariaDB spent another ${seconds(otherCpu)} of CPU time for none of the fourteen. Interactions whose statements take less than 0.5 ms have
${each} µs of CPU time a statement more by Fulcrum's account than by MariaDB's own: Fulcrum's is all that a thread does for the transaction, connecting and
the messages too.`;
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

/** Figures 11 and 12: what the two repairs of §8.4 bring. */
function repairs(journal) {
  const names = ["AdminConfirm", "BestSellers", "SearchResults"];
  const rows = Object.entries({
    myisam: "as it was",
    item: "`item` an InnoDB table",
    cache: "BestSellers and SearchResults kept",
  }).map(([key, text]) => {
    const { interactions, seconds: took } = journal.get(key);
    const means = names.map((name) => `${interactions.find((it) => it.name === name).mean.toFixed(0)} ms`);
    const pages = sum(interactions.map((it) => it.pages));
    return `| ${text} | ${means.join(" | ")} | ${((60 * pages) / took).toFixed(0)} | ${seconds(sum(interactions.map((it) => it.cpu.own)))} |`;
  });
  return `What the two repairs of §8.4 bring (Figures 11 and 12), all recorded: mean response times, pages a minute, and MariaDB's CPU time.

| shop | ${names.join(" | ")} | pages a minute | MariaDB's CPU |
| --- | --: | --: | --: | --: | --: |
${rows.join("\n")}`;
}

function seconds(value) {
  return value > 0 && value < 0.005 ? `${(1000 * value).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}
