/**
 * `npm run bench -- handlers [nginx] [Squid]`: caches with an event loop of their own, whose hits and misses go through other
 * sequences of handlers (Whodunit, Figures 4 and 9). What a hit and a miss cost in a run that has both is compared with two
 * runs that have only hits and only misses. Writes its section of docs/accuracy.md.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { root, StepError, which } from "../lib/steps.mjs";
import { runChild } from "./lib/children.mjs";
import { grouped, measureCases, table } from "./transactions/cases.mjs";
import { descendants } from "./transactions/killing.mjs";
import { originPort, proxies } from "./transactions/proxies.mjs";
import { asked, isListening, recorder, whileServing } from "./transactions/serving.mjs";

const work = path.join(root, "out", "bench", "handlers");
const run = path.join(work, "run");
const scripts = path.join(root, "scripts", "bench", "transactions");
const sizes = { normal: { requests: 20_000, rounds: 3 }, quick: { requests: 2000, rounds: 1 } };
const connections = 8;
/** Milliseconds for which a connection rests before it asks: a server that has no rest takes less for what comes at once. */
const rest = 3;
/** Shares of CPU time may differ so much, in points. */
const tolerance = 2;

const hit = { path: "/kept/page", name: "GET /kept/page" };
const miss = { path: "/fresh/page", name: "GET /fresh/page" };
/** Misses first: they tell what a miss goes on with. */
const kinds = { misses: [miss], hits: [hit], both: [hit, miss] };

export async function bench(args) {
  mkdirSync(work, { recursive: true });
  const cases = proxies.filter(({ needs }) => needs.every((program) => which(program) !== undefined));
  if (cases.length < proxies.length) {
    const missing = proxies.filter((it) => !cases.includes(it)).map(({ needs }) => needs.join(" "));
    console.log(`Not measured: apt-get install ${missing.join(" ")}`);
  }
  const origin = spawn(process.execPath, [path.join(scripts, "origin.mjs"), `${originPort}`], { stdio: "ignore" });
  try {
    while (!(await isListening(originPort))) {
      await pause(20);
    }
    await measureCases(args, { name: "handlers", cases, measure, report, wrong });
  } finally {
    origin.kill();
  }
}

/** Rounds of only misses, only hits and both, in turn. */
async function measure(proxy, quick) {
  const { requests, rounds } = quick ? sizes.quick : sizes.normal;
  const found = { hits: [], misses: [], both: [] };
  let answered = proxy.answered;
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, pages] of Object.entries(kinds)) {
      proxy.prepare();
      const kernel = await record(proxy, pages, requests);
      const { flows } = await asked("show", run);
      const events = flows.filter((it) => it.kind === "event");
      answered ??= events.find(({ from }) => from === miss.name)?.to;
      found[kind].push({ kernel, flows: events, ...(await told(answered ?? "")) });
    }
  }
  const all = Object.entries(found).map(([kind, all]) => [kind, together(all)]);
  return { requests, answered, ...Object.fromEntries(all) };
}

/** One recorded run: the CPU time that the kernel counts, nanoseconds. */
async function record(proxy, pages, requests) {
  rmSync(run, { recursive: true, force: true });
  return whileServing(proxy, recorder(run), async (child) => {
    // What is kept is fetched once, and not counted.
    await ask(proxy.port, [hit], 1);
    const before = cpuOf(child.pid);
    await ask(proxy.port, pages, requests * pages.length);
    return cpuOf(child.pid) - before;
  });
}

/** What the run says of hits and of misses, until the origin answered and from then on. */
async function told(answered) {
  const rules = [hit, miss].flatMap(({ name }) => ["--type", `${name}, answered=${name} > ${answered}`]);
  const { types, notes } = await asked("compare", run, run, ...rules);
  const of = (name) => {
    const cost = types.find((it) => it.name === name)?.a;
    return { count: cost?.transactions ?? 0, cpu: cost?.cpuNs ?? 0 };
  };
  const page = ({ name }) => ({ before: of(name), after: of(`${name}, answered`) });
  return { notes, hit: page(hit), miss: page(miss) };
}

async function ask(port, pages, requests) {
  const at = `${Math.min(connections, requests)}/${rest}`;
  const sizes = [`${port}`, at, `${requests}`];
  const paths = pages.map((page) => page.path);
  const command = [process.execPath, path.join(scripts, "asker.mjs"), "http", ...sizes, ...paths];
  const { code, stdout, stderr } = await runChild(command, { limit: 300 });
  if (code !== 0) {
    throw new StepError(`Not every request was answered:\n${stdout}${stderr}`);
  }
}

/** CPU time of all processes that a process has started, nanoseconds. */
function cpuOf(pid) {
  const tasks = descendants(pid).flatMap((it) => {
    const folder = `/proc/${it}/task`;
    return readdirSync(folder).map((task) => `${folder}/${task}/schedstat`);
  });
  return tasks.reduce((sum, file) => sum + Number(readFileSync(file, "utf8").split(" ")[0]), 0);
}

/** The rounds of one kind together. */
function together(all) {
  const [first] = all;
  const sum = (of) => all.reduce((total, it) => total + of(it), 0);
  const part = (kind, when) => ({
    count: sum((it) => it[kind][when].count),
    cpu: sum((it) => it[kind][when].cpu),
  });
  return {
    rounds: all.length,
    kernel: sum((it) => it.kernel),
    hit: { before: part("hit", "before"), after: part("hit", "after") },
    miss: { before: part("miss", "before"), after: part("miss", "after") },
    flows: first.flows,
    notes: first.notes,
  };
}

/** The parts of what requests cost, nanoseconds: in both together, and as the two other runs let expect. */
function parts({ hits, misses, both }) {
  return [
    {
      name: "hit",
      measured: both.hit.before.cpu + both.hit.after.cpu,
      expected: hits.hit.before.cpu + hits.hit.after.cpu,
    },
    { name: "miss, until the origin answers", measured: both.miss.before.cpu, expected: misses.miss.before.cpu },
    { name: "miss, from then on", measured: both.miss.after.cpu, expected: misses.miss.after.cpu },
  ];
}

/** Shares in percent: of a part in all of them, measured and expected. */
function shares(found) {
  const all = parts(found);
  const sum = (of) => all.reduce((total, it) => total + of(it), 0);
  const [measured, expected] = [sum((it) => it.measured), sum((it) => it.expected)];
  const part = all.map((it) => ({
    name: it.name,
    measured: (100 * it.measured) / measured,
    expected: (100 * it.expected) / expected,
  }));
  const kernel = found.hits.kernel + found.misses.kernel;
  const misses = {
    name: "misses, all",
    measured: part[1].measured + part[2].measured,
    expected: part[1].expected + part[2].expected,
    kernel: (100 * found.misses.kernel) / kernel,
  };
  const hits = {
    name: "hits, all",
    measured: 100 - misses.measured,
    expected: 100 - misses.expected,
    kernel: 100 - misses.kernel,
  };
  return [hits, misses, part[1], part[2]];
}

function report(rows) {
  const parts = rows.map(([proxy, found]) => section(proxy, found));
  return `## Hits and misses of caches

A cache that goes round in a loop of its own is asked for a page that it has and for one that it must fetch, in turn, by ${connections}
connections that are kept. As in the paper's Figure 9, a miss goes through one handler more: the one that goes on when the origin
has answered. What hits and misses cost in this run is compared with runs that have only hits and only misses, all recorded; *by
the kernel* is the CPU time of the server's processes in those two, whatever it was for.

${parts.join("\n\n")}`;
}

function section(proxy, found) {
  const { answered, both, requests } = found;
  const all = requests * both.rounds;
  const percent = (value) => (value === undefined ? "" : `${value.toFixed(1)} %`);
  const sequences = both.flows
    .slice(0, 8)
    .map(({ from, to, count }) => `- ${grouped(count)} × \`${from}\` → \`${to}\``);
  return `**${proxy.name}**: of ${grouped(all)} hits and ${grouped(all)} misses, ${grouped(both.hit.after.count)} hits and ${grouped(both.miss.after.count)} misses went through \`${answered}\`.

${table(
  ["CPU time", "both in one run", "only one", "by the kernel"],
  shares(found).map((it) => [it.name, ...[it.measured, it.expected, it.kernel].map(percent)]),
)}

The most frequent flows by events, in the first round:

${sequences.join("\n")}`;
}

function wrong(found) {
  const all = found.requests * found.both.rounds;
  const { hit, miss } = found.both;
  const told = [
    ...(miss.after.count === all ? [] : [`${miss.after.count} of ${all} misses are told by their handlers`]),
    ...(hit.after.count <= found.both.rounds ? [] : [`${hit.after.count} hits seem to have been fetched`]),
  ];
  const apart = shares(found).filter((it) => Math.abs(it.measured - it.expected) > tolerance);
  return [
    ...told,
    ...apart.map((it) => `${it.name}: ${it.measured.toFixed(1)} %, expected ${it.expected.toFixed(1)} %`),
  ];
}
