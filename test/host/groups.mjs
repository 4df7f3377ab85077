/** The host level: suites that run inside the extension host of a window, each in its own workspace. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import path from "node:path";
import { photograph } from "../support/level.mjs";
import { copyTraces, hostTests } from "../support/stage.mjs";

/** The time limit of a suite, in milliseconds. It only catches suites that hang. */
const limit = 600_000;

const names = ["causal", "navigator", "running", "untrusted"];

export const hostGroups = names.map((name) => ({
  level: "host",
  name,
  trusted: name !== "untrusted",
  prepare: (folder) => {
    writeFileSync(path.join(folder, hostTests), JSON.stringify({ group: name }));
    if (name === "navigator") {
      copyTraces(folder);
    }
  },
  run: async ({ page, workspace, level }) => {
    const file = path.join(workspace.folder, `${hostTests}.result`);
    const { tests, failures } = await written(file);
    for (const test of tests) {
      level.add(test);
    }
    for (const failure of failures) {
      const message = `${failure.message}\n${await photograph(page, `host-${name}`)}`;
      level.fail(failure.name, message);
    }
  },
}));

/** What the driver writes to this file at the end of the suite. */
async function written(file) {
  const changes = watch(path.dirname(file), { signal: AbortSignal.timeout(limit) });
  // If it exists already, nothing will change any more.
  if (!existsSync(file)) {
    for await (const _ of changes) {
      if (existsSync(file)) {
        break;
      }
    }
  }
  return JSON.parse(readFileSync(file, "utf8"));
}
