/**
 * `npm run bench -- handlers [nginx] [Squid]`: caches with their own event loop, whose hits and misses go through different
 * sequences of handlers (Whodunit, Figures 4 and 9). The costs of a hit and a miss in a mixed run are compared with those in
 * a run of only hits and a run of only misses. Writes its section of docs/accuracy.md.
 */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
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
/** With fewer requests, the number of samples alone would move shares by more than is tolerated. */
const sizes = { normal: { requests: 4000, rounds: 4 }, quick: { requests: 2000, rounds: 1 } };
/** How much shares of CPU time may differ, in percentage points. */
const tolerance = 2;

const hit = { path: "/kept/page", name: "GET /kept/page" };
const miss = { path: "/fresh/page", name: "GET /fresh/page" };
/**
 * Misses come first, because they show what a miss continues with. Costs are measured with one request at a time and an idle
 * server in between, so that the kernel knows the cost of each. Many at a time show whether hits and misses are distinguished.
 */
const kinds = {
  misses: { pages: [miss], connections: 1 },
  hits: { pages: [hit], connections: 1 },
  both: { pages: [hit, miss], connections: 1 },
  many: { pages: [hit, miss], connections: 8 },
};

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

/** Rounds of all kinds, in turn. */
async function measure(proxy, quick) {
  const { requests, rounds } = quick ? sizes.quick : sizes.normal;
  const found = { misses: [], hits: [], both: [], many: [] };
  let answered = proxy.answered;
  for (let round = 0; round < rounds; round += 1) {
    for (const [kind, load] of Object.entries(kinds)) {
      const kernel = await record(proxy, load, requests);
      const { flows } = await asked("show", run);
      const events = flows.filter((it) => it.kind === "event");
      answered ??= events.find(({ from }) => from === miss.name)?.to;
      found[kind].push({ kernel, flows: events, ...(await told(answered ?? "")) });
    }
  }
  const all = Object.entries(found).map(([kind, all]) => [kind, together(all)]);
  return { requests, answered, ...Object.fromEntries(all) };
}

/** One recorded run. With one request at a time, also the kernel's CPU time for each page, nanoseconds. */
async function record(proxy, { pages, connections }, requests) {
  rmSync(run, { recursive: true, force: true });
  proxy.prepare(proxy.port);
  return whileServing(proxy, recorder(run), async (child) => {
    // Fills the cache. These requests are not counted.
    await ask(proxy.port, [hit], 1, 1);
    const of = connections === 1 ? descendants(child.pid) : [];
    return ask(proxy.port, pages, requests * pages.length, connections, of);
  });
}

/** What the run reports for hits and misses, before and after the origin's answer. */
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

async function ask(port, pages, requests, connections, processes = []) {
  const sizes = [`${port}`, `${connections}`, `${requests}`];
  const paths = pages.map((page) => page.path);
  const command = [process.execPath, path.join(scripts, "asker.mjs"), "http", ...sizes, ...paths];
  const env = processes.length === 0 ? {} : { CPU_OF: processes.join(" ") };
  const { code, stdout, stderr } = await runChild(command, { limit: 3000, env });
  if (code !== 0) {
    throw new StepError(`Some requests were not answered:\n${stdout}${stderr}`);
  }
  const { cpu } = JSON.parse(stdout);
  return Object.fromEntries(pages.map((page) => [page.path, cpu[page.path]]));
}

/** The sum over the rounds of one kind. */
function together(all) {
  const [first] = all;
  const sum = (of) => all.reduce((total, it) => total + of(it), 0);
  const part = (kind, when) => ({
    count: sum((it) => it[kind][when].count),
    cpu: sum((it) => it[kind][when].cpu),
  });
  return {
    rounds: all.length,
    kernel: {
      hit: sum((it) => it.kernel[hit.path] ?? 0),
      miss: sum((it) => it.kernel[miss.path] ?? 0),
    },
    hit: { before: part("hit", "before"), after: part("hit", "after") },
    miss: { before: part("miss", "before"), after: part("miss", "after") },
    flows: first.flows,
    notes: first.notes,
  };
}

/** The parts of the requests' cost, nanoseconds: in the mixed run, and as the two other runs predict. */
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

/** Shares in percent: hits, misses, and the parts of misses. */
function shares(found) {
  const all = parts(found);
  const sum = (of) => all.reduce((total, it) => total + of(it), 0);
  const [measured, expected] = [sum((it) => it.measured), sum((it) => it.expected)];
  const share = (hit, miss) => (100 * miss) / (hit + miss);
  const part = all.map((it) => ({
    name: it.name,
    measured: (100 * it.measured) / measured,
    expected: (100 * it.expected) / expected,
  }));
  const [first, until, after] = part;
  const misses = {
    name: "misses",
    measured: until.measured + after.measured,
    expected: until.expected + after.expected,
    kernel: share(found.both.kernel.hit, found.both.kernel.miss),
    kernelApart: share(found.hits.kernel.hit, found.misses.kernel.miss),
  };
  const hits = { ...first, name: "hits", kernel: 100 - misses.kernel, kernelApart: 100 - misses.kernelApart };
  return [hits, misses, until, after];
}

function report(rows) {
  const parts = rows.map(([proxy, found]) => section(proxy, found));
  return `## Hits and misses of caches

Eight kept connections ask a cache with its own event loop in turn for a page that it has and for one that it must fetch. As in the
paper's Figure 9, a miss goes through one more handler: the one that continues when the origin has answered.

The cost of hits and misses is measured with one connection, which pauses after each answer, so that the kernel's count of the
server's CPU time can be read after each request (*by the kernel*, in the same run). The last two columns are from runs with only hits
and only misses. The cost of a request depends on what the processor did just before, so requests in these runs may really cost
something else, which the kernel's count then says too.

${parts.join("\n\n")}`;
}

function section(proxy, found) {
  const { answered, many, requests } = found;
  const all = requests * many.rounds;
  const percent = (value) => (value === undefined ? "" : `${value.toFixed(1)} %`);
  const sequences = many.flows
    .slice(0, 8)
    .map(({ from, to, count }) => `- ${grouped(count)} × \`${from}\` → \`${to}\``);
  return `**${proxy.name}**: of ${grouped(all)} hits and ${grouped(all)} misses, ${grouped(many.hit.after.count)} hits and ${grouped(many.miss.after.count)} misses went through \`${answered}\`.

${table(
  ["CPU time", "Fulcrum", "by the kernel", "only one in a run", "by the kernel"],
  shares(found).map((it) => [it.name, ...[it.measured, it.kernel, it.expected, it.kernelApart].map(percent)]),
)}

The most frequent flows by events, in the first round:

${sequences.join("\n")}`;
}

function wrong(found) {
  const all = found.requests * found.many.rounds;
  const { hit, miss } = found.many;
  const told = [
    ...(miss.after.count === all ? [] : [`${miss.after.count} of ${all} misses are recognised by their handlers`]),
    ...(hit.after.count <= found.many.rounds ? [] : [`${hit.after.count} hits look as if they were fetched`]),
  ];
  const pairs = shares(found)
    .filter((it) => it.kernel !== undefined)
    .flatMap(({ name, measured, kernel, expected, kernelApart }) => [
      { name, ours: measured, kernel },
      { name: `${name}, only one in a run`, ours: expected, kernel: kernelApart },
    ]);
  const apart = pairs.filter(({ ours, kernel }) => Math.abs(ours - kernel) > tolerance);
  return [
    ...told,
    ...apart.map(({ name, ours, kernel }) => `${name}: ${ours.toFixed(1)} %, by the kernel ${kernel.toFixed(1)} %`),
  ];
}
