import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import type { RefineModel, ToRefine } from "../../extension/core/trace/refine";
import { thisRecorder, writeLoop, writeRun } from "../support/runs.mjs";
import { begin, fulcrum, inWorkspace, Messages, nextPage, test, until, watching } from "./harness";

const folder = () => inWorkspace("").fsPath.replace(/\/$/, "");
const plain = (text: string) => text.replaceAll("\u00a0", " ");

/** A finished refine loop. */
function isDone(message: unknown): message is ToRefine & { model: RefineModel } {
  const { type, model } = message as Partial<ToRefine>;
  return type === "show" && model !== undefined && "hotspots" in model && model.state === "done";
}

async function row(label: string, wanted: (description: string) => boolean = () => true) {
  const api = await fulcrum();
  return until(`the run ${label}`, () => api.runs().find((it) => it.label === label && wanted(plain(it.description))));
}

test("runs: the workspace's runs, newest first, each with how it ended; a click opens it in its view", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.runs.show");
  await row("two-threads", (text) => / · stopped · [\d.]+ [kM]B$/.test(text));
  const oldest = api.runs().slice(-3);
  assert.deepEqual(
    oldest.map((it) => it.label),
    ["two-threads", "serial", "serial"],
  );
  const [, serial] = oldest;
  assert.ok(serial);
  await vscode.commands.executeCommand("fulcrum.runs.open", serial.node);
  assert.equal(api.summary()?.path, inWorkspace(".fulcrum/runs/20261121T120500Z-serial").fsPath);
});

test("runs: a run recorded outside the editor appears, runs, ends, and disappears with its folder", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.runs.show");
  await watching();
  const run = writeRun(folder(), "20261121T141500Z-server", thisRecorder);
  const going = await row("server", (text) => / · running · /.test(text));
  assert.equal(going.context, "run.events.going");
  const messages = Messages.mark(api);
  begin("fulcrum.runs.remove", going.node);
  await messages.next(/^A run that is being recorded cannot be deleted/);

  const manifest = JSON.parse(readFileSync(path.join(run, "run.json"), "utf8"));
  writeFileSync(path.join(run, "run.json"), JSON.stringify({ ...manifest, ended: "signalled", signal: 9 }));
  await row("server", (text) => / · ended by SIGKILL · /.test(text));
  rmSync(run, { recursive: true });
  await until("the run to be gone", () => !api.runs().some((it) => it.label === "server"));
});

test("runs: a refine loop has its iterations below it, and opens as its table", async () => {
  const api = await fulcrum();
  await vscode.commands.executeCommand("fulcrum.runs.show");
  const runs = writeLoop(folder());
  const loop = await row("shop.Main", (text) => /^4 iterations · /.test(text));
  const at = api.runs().findIndex((it) => it.node === loop.node);
  assert.deepEqual(
    api
      .runs()
      .slice(at + 1, at + 5)
      .map((it) => it.label),
    ["Iteration 1", "Iteration 2", "Iteration 3", "Iteration 4"],
  );
  const table = await nextPage(isDone);
  await vscode.commands.executeCommand("fulcrum.runs.open", loop.node);
  const { model } = await table("the table");
  assert.equal(model.message, "The set is stable: 12 hotspots.");
  assert.deepEqual(
    model.rows.map((it) => it.methods),
    ["1,412", "66", "19", "17"],
  );
  assert.equal(model.rows.at(-1)?.run, runs.at(-1));
  await vscode.commands.executeCommand("workbench.action.closeAllEditors");
  for (const run of runs) {
    rmSync(run, { recursive: true });
  }
  await until("the loop to be gone", () => !api.runs().some((it) => it.context === "loop"));
});
