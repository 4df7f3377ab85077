/**
 * The agent for Java: the cost of a monitored call, beside other tools in the same run, and whole libraries under the agent.
 * Writes its sections of docs/benchmarks.md. `npm run bench -- jvm calls`, `libraries`, `kills`, `refine` or
 * `overhead` (of the filter that refine found) does one part;
 * `dispatcher` compares samples/dispatcher with queueing theory and writes its own section.
 */
import { StepError, step } from "../lib/steps.mjs";
import { measureCalls } from "./jvm/calls.mjs";
import { dispatcher } from "./jvm/dispatcher.mjs";
import { killPrograms } from "./jvm/kills.mjs";
import { runLibraries } from "./jvm/libraries.mjs";
import { measureOverhead, measureRefine, overheadSection, refineSection } from "./jvm/refine.mjs";
import { failures, report } from "./jvm/report.mjs";
import { fetchJars, findJdks } from "./jvm/tools.mjs";
import { writeSection } from "./lib/document.mjs";
import { Journal } from "./lib/journal.mjs";
import { describeMachine, warnIfBusy } from "./lib/machine.mjs";
import { parseOptions } from "./lib/options.mjs";

const parts = {
  calls: { title: "cost of a monitored call", work: measureCalls },
  libraries: { title: "libraries", work: runLibraries },
  kills: { title: "kill -9", work: killPrograms },
  refine: { title: "refine loop", work: measureRefine },
  overhead: { title: "what its last filter costs", work: measureOverhead },
};

export async function bench(args) {
  const options = parseOptions(args);
  // Not a measurement of the agent, but a program whose behaviour theory predicts. It runs only if it is named.
  if (options.names.includes("dispatcher")) {
    const size = options.quick ? { requests: 200, scale: 0.05, write: false } : {};
    if (!(await dispatcher(size))) {
      throw new StepError("samples/dispatcher does not agree with queueing theory.");
    }
    return;
  }
  const unknown = options.names.filter((name) => !(name in parts));
  if (unknown.length > 0) {
    throw new StepError(`There is no part ${unknown.join(", ")}: choose among ${Object.keys(parts).join(", ")}.`);
  }
  const chosen = options.names.length > 0 ? options.names : Object.keys(parts);
  const journal = new Journal(options.quick ? "jvm-quick" : "jvm");
  if (!options.report) {
    const jdks = await findJdks();
    const jars = await step("jars from Maven Central", fetchJars);
    warnIfBusy();
    journal.put("machine", { ...(await describeMachine()), jdks: jdks.map(({ name }) => name) });
    for (const name of chosen.filter((name) => !options.resume || journal.get(name) === undefined)) {
      journal.put(name, await step(parts[name].title, () => parts[name].work({ jdks, jars, quick: options.quick })));
    }
  }
  // The refine loop is measured separately, and has its own section.
  const others = Object.keys(parts).some(
    (name) => !["refine", "overhead"].includes(name) && journal.get(name) !== undefined,
  );
  const sections = {
    jvm: others ? report(journal) : undefined,
    refine: refineSection(journal),
    "refine-overhead": overheadSection(journal),
  };
  const texts = Object.entries(sections).filter(([, text]) => text !== undefined);
  if (options.quick) {
    console.log(
      `\n${texts.map(([, text]) => text).join("\n\n")}\n\nThese were tiny runs (--quick): the numbers mean nothing, and docs/benchmarks.md is not changed.`,
    );
  } else {
    for (const [name, text] of texts) {
      writeSection("docs/benchmarks.md", name, text);
    }
  }
  const failed = failures(journal);
  if (failed.length > 0 && !options.quick) {
    throw new StepError(failed.join("\n"));
  }
}
