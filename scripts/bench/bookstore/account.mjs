/** Two accounts of one run of the bookstore: Fulcrum's, and MariaDB's own. */

/** Where a thread of MariaDB waits for locks of tables. */
const TABLE_LOCK = "thr_multi_lock";

/**
 * @param {object} result what samples/bookstore measured, with MariaDB's own account
 * @param {object} shown `fulcrum transactions show --json`
 * @param {object} crosstalk `fulcrum transactions crosstalk --json`
 */
export function account(result, shown, crosstalk) {
  const waits = tableWaits(crosstalk);
  const interactions = result.pages.map(({ name, count, mean, p95 }) => {
    const own = result.database.interactions.find((it) => it.name === name);
    const type = shown.types.find((it) => it.name === typeName(name));
    const behind = waits.get(typeName(name)) ?? new Map();
    return {
      name,
      ...{ pages: count, mean, p95, found: type?.count ?? 0 },
      cpu: { fulcrum: cpuSeconds(type), own: own.cpuSeconds },
      commands: own.commands,
      wait: { fulcrum: sum(behind.values()), own: own.tableWaitSeconds },
      behind: Object.fromEntries(behind),
    };
  });
  const known = new Set(result.pages.map(({ name }) => typeName(name)));
  const others = shown.types.filter((it) => !known.has(it.name));
  return {
    options: result.options,
    seconds: result.seconds,
    interactions,
    otherCpu: sum(others.map(cpuSeconds)),
  };
}

/** Seconds that types waited for locks of MariaDB's tables, by type and by whom they waited for. */
function tableWaits({ pairs }) {
  /** @type {Map<string, Map<string, number>>} */
  const waits = new Map();
  for (const { waiter, holder, paths } of pairs) {
    const ns = sum(paths.filter((it) => it.waiterFunctions.includes(TABLE_LOCK)).map((it) => it.waitNs));
    if (ns > 0) {
      const of = waits.get(waiter) ?? new Map();
      of.set(holder, (of.get(holder) ?? 0) + ns / 1e9);
      waits.set(waiter, of);
    }
  }
  return waits;
}

/** The type that an interaction's pages are. */
export function typeName(interaction) {
  return `GET /bookstore/${interaction.toLowerCase()}`;
}

function cpuSeconds(type) {
  const stages = (type?.stages ?? []).filter(({ process }) => process === "mariadbd");
  return sum(stages.map(({ cpuNs }) => cpuNs)) / 1e9;
}

/** Shares of MariaDB's CPU time in percent, of the fourteen interactions together. */
export function shares(interactions, by) {
  const all = sum(interactions.map((it) => it.cpu[by]));
  return interactions.map((it) => (100 * it.cpu[by]) / all);
}

/** Seconds that all interactions together waited for locks of tables. */
export function waited(interactions, by) {
  return sum(interactions.map((it) => it.wait[by]));
}

/** A sentence about each number that is further from MariaDB's own than it may be. */
export function differences({ interactions }) {
  const [ours, own] = [shares(interactions, "fulcrum"), shares(interactions, "own")];
  const cpu = interactions.flatMap(({ name }, at) => {
    const apart = Math.abs(ours[at] - own[at]);
    return apart <= 2 ? [] : [`${name}: ${apart.toFixed(1)} points from MariaDB's own share of CPU time.`];
  });
  const pages = interactions.flatMap(({ name, pages, found }) =>
    pages === found ? [] : [`${name}: ${found} of ${pages} pages were found.`],
  );
  const [by, truth] = [waited(interactions, "fulcrum"), waited(interactions, "own")];
  const wait =
    Math.abs(by / truth - 1) <= 0.1 ? [] : [`Waits for tables: ${by} s, by MariaDB's own account ${truth} s.`];
  return [...pages, ...cpu, ...wait];
}

export function sum(values) {
  return [...values].reduce((all, it) => all + it, 0);
}
