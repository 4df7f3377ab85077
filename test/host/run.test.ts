import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { begin, fulcrum, inWorkspace, Messages, scripted, test, until } from "./harness";

test("a missing program is refused with what to do", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("build/nothing").fsPath });
  assert.match(await messages.next(/build\/nothing/), /nothing/);
});

test("a file that is not executable is refused", async () => {
  const messages = Messages.mark(await fulcrum());
  begin("fulcrum.causal.run", { program: inWorkspace("two-threads.cpp").fsPath });
  assert.match(await messages.next(/two-threads\.cpp/), /execut/);
});

test("a run shows progress, ends with its results, and tells the best line", async () => {
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

test("a run that cannot begin says why", async () => {
  const api = await fulcrum();
  const messages = Messages.mark(api);
  const { program, script } = scripted("20261122T090100Z-app");
  script.add({ do: "fail", message: "there is no room" });
  begin("fulcrum.causal.run", { program });
  await messages.next(/there is no room/);
  assert.equal(api.runMessage(), undefined);
});

test("a run that is stopped keeps and opens what it recorded", async () => {
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
