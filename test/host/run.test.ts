import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { Script } from "../support/play.mjs";
import { begin, fulcrum, inWorkspace, Messages, scripted, test, until } from "./harness";

test("a missing program is refused, with advice", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("build/nothing").fsPath });
  assert.match(await messages.next(/build\/nothing/), /nothing/);
});

test("a file that is not executable is refused", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("two-threads.cpp").fsPath });
  assert.match(await messages.next(/two-threads\.cpp/), /execut/);
});

test("a run shows progress, ends with its results, and names the best line", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  const { program, script, run } = scripted("20261122T090000Z-app");
  begin("fulcrum.causal.run", { program, args: ["100"], durationSeconds: 10 });
  script.report(7);
  await until("progress", () => api.live()?.experiments === 7);
  assert.match(api.statusText() ?? "", /^\$\(sync~spin\) 7 experiments/);
  script.end();
  assert.match(await messages.next(/two-threads/), /two-threads\.cpp:14/);
  assert.equal(api.runMessage(), undefined);
  assert.equal(api.summary()?.path, run);
  assert.deepEqual(
    api.summary()?.progressPoints.map((point) => point.name),
    ["iteration"],
  );
});

test("a run that cannot start says why", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  const { program, script } = scripted("20261122T090100Z-app");
  script.add({ do: "fail", message: "there is no room" });
  begin("fulcrum.causal.run", { program });
  await messages.next(/there is no room/);
  assert.equal(api.runMessage(), undefined);
});

test("a stopped run keeps and opens its records", async () => {
  const api = await fulcrum();
  const { program, script, run } = scripted("20261122T090200Z-app");
  begin("fulcrum.causal.run", { program });
  script.report(3);
  await until("experiments", () => /^3\sexperiments/.test(api.runMessage() ?? ""));
  begin("fulcrum.causal.stop");
  await until("the end of the run", () => api.runMessage() === undefined);
  assert.equal(api.summary()?.path, run);
  assert.match(readFileSync(`${run}/run.json`, "utf8"), /"ended":\s*"stopped"/);
});

/** The next run of `build/app`: only its first experiments, too few for an answer. */
function hollow(name: string): { program: string; script: Script; run: string } {
  const program = inWorkspace("build/app").fsPath;
  const script = new Script(program);
  const recorded = inWorkspace(".fulcrum/runs/20261121T131500Z-two-threads").fsPath;
  const run = script.run(inWorkspace("").fsPath, recorded, name, (folder: string) => {
    const file = path.join(folder, "causal-4321-0.jsonl");
    const lines = readFileSync(file, "utf8").split("\n").slice(0, 5);
    writeFileSync(file, `${lines.join("\n")}\n`);
  });
  return { program, script, run };
}

test("a run without an answer does not hide an earlier one, and can continue", async () => {
  const api = await fulcrum();
  const first = scripted("20261122T090300Z-app");
  begin("fulcrum.causal.run", { program: first.program });
  first.script.report(3);
  await until("the first run", () => api.live()?.experiments === 3);
  first.script.end();
  await until("its results", () => api.runMessage() === undefined && api.summary()?.path === first.run);

  const messages = Messages.mark(api);
  const second = hollow("20261122T090400Z-app");
  begin("fulcrum.causal.run", { program: second.program, durationSeconds: 30 });
  second.script.report(4);
  await until("the second run", () => api.live()?.experiments === 4);
  second.script.end();
  const said = await messages.next(/no line has enough data/);
  assert.match(said, /continues where it stopped\. The results of app, .* stay open\.$/);
  assert.equal(api.summary()?.path, first.run);

  const third = scripted("20261122T090500Z-app");
  begin("fulcrum.causal.runLonger", second.run);
  third.script.report(5);
  await until("the longer run", () => api.live()?.experiments === 5);
  third.script.end();
  await until("its results", () => api.runMessage() === undefined && api.summary()?.path === third.run);
});
