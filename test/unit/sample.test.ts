/** The sample in the extension, and the walkthrough that offers it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { relocated, sampleRun, sampleRuns, sampleSource } from "../../extension/core/causal/sample";

const root = path.resolve(__dirname, "../..");
const bundled = path.join(root, "media/sample");

test.each(Object.keys(sampleRuns))("every path in the run %s points into the copy", (which) => {
  const folder = '/home/a "b"/sample';
  const files = readdirSync(path.join(bundled, which)).filter((name) => name !== "sources");
  expect(files.length).toBe(2);
  for (const name of files) {
    const text = relocated(readFileSync(path.join(bundled, which, name), "utf8"), folder);
    expect(text).not.toContain("@");
    const lines = name === "run.json" ? [text] : text.trimEnd().split("\n");
    for (const line of lines) {
      expect(typeof JSON.parse(line)).toBe("object");
    }
    expect(text).toContain(JSON.stringify(path.join(folder, sampleSource)).slice(0, -1));
  }
  expect(existsSync(path.join(bundled, which, "sources", `0-${sampleSource}`))).toBe(true);
});

test("runs are where the Runs view looks for them", () => {
  expect(sampleRun("/s", "before")).toBe("/s/.fulcrum/runs/20261121T120000Z-serial");
});

test("the walkthrough begins with the sample, and no step needs an open folder", () => {
  const { contributes } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const [{ steps }] = contributes.walkthroughs;
  expect(steps[0].description).toContain("command:fulcrum.sample.open");
  expect(steps.filter((step: { when?: string }) => step.when !== undefined)).toEqual([]);
});

test("every welcome text has a button, and one is shown in any window", () => {
  const { contributes } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  for (const { view, contents } of contributes.viewsWelcome) {
    expect(contents, view).toContain("(command:");
  }
});
