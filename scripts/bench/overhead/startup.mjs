/** The time from the start of the command to main, including reading debug information, for a small and a large program. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root, run, StepError } from "../../lib/steps.mjs";
import { runChild } from "../lib/children.mjs";
import { elfDebugSize } from "./elf.mjs";

const folder = path.join(root, "out", "bench", "startup");
const files = 12;
const functions = 230;

/** @returns {Promise<Record<"small" | "large", { debugBytes: number, ms: Record<string, number[]> }>>} */
export async function measureStartup({ starts, peer }) {
  mkdirSync(folder, { recursive: true });
  const programs = { small: await build("small", 0), large: await build("large", files) };
  const result = {};
  for (const [name, program] of Object.entries(programs)) {
    result[name] = { debugBytes: elfDebugSize(program), ms: { alone: [], fulcrum: [], coz: [] } };
  }
  const coz = peer && { coz: () => [...peer.command, "run", "-o", path.join(folder, "startup.coz"), "---"] };
  for (let round = 0; round < starts; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      for (const [how, under] of Object.entries({ ...ways, ...coz })) {
        result[name].ms[how].push(await timeToMain(under(), program));
      }
    }
  }
  return result;
}

const ways = {
  alone: () => [],
  fulcrum: () => {
    const output = path.join(folder, "run");
    rmSync(output, { recursive: true, force: true });
    return [path.join(root, "bin", "fulcrum"), "run", "--quiet", "--output", output, "--"];
  },
};

/** The program prints the monotonic clock at the start of main. Node uses the same clock. Milliseconds. */
async function timeToMain(under, program) {
  const start = process.hrtime.bigint();
  const done = await runChild([...under, program]);
  const main = /^main=(\d+)$/m.exec(done.stdout)?.[1];
  if (main === undefined) {
    throw new StepError(`${[...under, program].join(" ")} did not reach main:\n${done.stderr}`);
  }
  return Number(BigInt(main) - start) / 1e6;
}

const mainSource = `
#include <stdio.h>
#include <time.h>
int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("main=%lld\\n", now.tv_sec * 1000000000ll + now.tv_nsec);
}
`;

async function build(name, parts) {
  const sources = [["main.c", mainSource]];
  for (let part = 0; part < parts; part += 1) {
    sources.push([`part${part}.c`, partSource(part)]);
  }
  for (const [file, text] of sources) {
    writeFileSync(path.join(folder, file), text);
  }
  const flags = ["-O1", "-g", "-gdwarf-4", "-gstrict-dwarf", "-pthread"];
  await run("gcc", [...flags, ...sources.map(([file]) => file), "-o", name], { cwd: folder });
  return path.join(folder, name);
}

/** Functions with inlined calls, loops and locals, like real code: half a megabyte of DWARF per part. */
function partSource(part) {
  const lines = [
    "struct item { long key, value; struct item *next; };",
    "static inline long mix(long x, long y) {\n  long z = x * 31 + y;\n  z ^= z >> 7;\n  return z * 17;\n}",
    "static inline long walk(struct item *item, long key) {\n  long steps = 0;\n  while (item && item->key != key) {\n    item = item->next;\n    steps++;\n  }\n  return steps;\n}",
  ];
  for (let index = 0; index < functions; index += 1) {
    lines.push(
      `long part${part}_function${index}(struct item *items, long count) {`,
      "  long sum = 0;",
      "  for (long i = 0; i < count; i++) {",
      `    long here = mix(items[i].key, ${index});`,
      "    sum += walk(&items[i], here);",
      "    if (sum > here) sum = mix(sum, items[i].value);",
      "    else sum -= mix(here, sum) + walk(items, sum);",
      "  }",
      "  return sum;",
      "}",
    );
  }
  return `${lines.join("\n")}\n`;
}
