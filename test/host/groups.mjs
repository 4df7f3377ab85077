/** The host floor: suites that run inside the extension host of a window, each in a workspace of its own. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import path from "node:path";
import { photograph } from "../support/floor.mjs";
import { copyTraces, hostTests } from "../support/stage.mjs";

/** How long a suite may take, in milliseconds: for what never ends. */
const limit = 600_000;

const names = ["causal", "navigator", "running", "untrusted"];

export const hostGroups = names.map((name) => ({
  floor: "host",
  name,
  trusted: name !== "untrusted",
  prepare: (folder) => {
    writeFileSync(path.join(folder, hostTests), JSON.stringify({ group: name }));
    if (name === "navigator") {
      copyTraces(folder);
    }
  },
  run: async ({ page, workspace, floor }) => {
    const file = path.join(workspace.folder, `${hostTests}.result`);
    const { tests, failures } = await written(file);
    for (const test of tests) {
      floor.add(test);
    }
    for (const failure of failures) {
      const message = `${failure.message}\n${await photograph(page, `host-${name}`)}`;
      floor.fail(failure.name, message);
    }
  },
}));

/** What the driver writes to this file when the suite has ended. */
async function written(file) {
  const changes = watch(path.dirname(file), { signal: AbortSignal.timeout(limit) });
  // It may be there already: then nothing changes any more.
  if (!existsSync(file)) {
    for await (const _ of changes) {
      if (existsSync(file)) {
        break;
      }
    }
  }
  return JSON.parse(readFileSync(file, "utf8"));
}
