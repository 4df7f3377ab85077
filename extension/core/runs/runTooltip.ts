/** What a row of the Runs view says when one points at it, and what is asked before a run is deleted. */

import type { RunEntry } from "../engine/protocol";
import { costText } from "../text/cost";
import { baseName, count, escapeMarkdown } from "../text/format";
import { endedText, kindText, labelOf, type RunNode, runsOf, sizeOf, whenText } from "./runs";

/** Options that say where a run is stored, or what the row says anyway. */
const hidden = new Set(["program", "limit", "iteration", "previous", "continues"]);
/** Notes that are shown. A run has the others too. */
const shownNotes = 3;

/** Markdown for a row. */
export function tooltipOf(node: RunNode, locale?: string): string {
  if (node.type === "run") {
    return runTooltip(node.run, labelOf(node), locale);
  }
  const last = node.runs.at(-1)?.run;
  if (last === undefined) {
    return "";
  }
  const rule = last.options.rule;
  const size = sizeOf(node.runs.map((row) => row.run));
  return [
    `**${escapeMarkdown(labelOf(node))}**: refine loop of ${count(node.runs.length, "iteration")}`,
    ...code(last.command),
    ...list([
      fullTime(last.start, locale),
      node.going ? "running" : "",
      ...(rule === undefined ? [] : [`Rule: ${inCode(rule)}`]),
      size === null ? "" : costText(size, "bytes"),
    ]),
  ].join("\n");
}

function runTooltip(run: RunEntry, label: string, locale?: string): string {
  const options = Object.entries(run.options).filter(([name]) => !hidden.has(name));
  const took = run.end === null ? Number.NaN : Date.parse(run.end) - Date.parse(run.start);
  const lasted = Number.isNaN(took) ? "" : `, after ${costText(took * 1e6, "ns")}`;
  return [
    `**${escapeMarkdown(label)}**: ${kindText(run)}`,
    ...code(run.command),
    ...list([
      fullTime(run.start, locale),
      `${capital(endedText(run))}${run.ended === "lost" ? "" : lasted}`,
      ...(options.length === 0
        ? []
        : [`Options: ${options.map(([name, value]) => inCode(`${name} ${value}`)).join(", ")}`]),
      run.gitRevision === null ? "" : `Revision ${inCode(run.gitRevision.slice(0, 12))}`,
      run.bytes === null ? "" : costText(run.bytes, "bytes"),
      ...run.notes.slice(0, shownNotes).map(escapeMarkdown),
    ]),
    "",
    inCode(run.path),
  ].join("\n");
}

/** `Started 21 November 2026 at 14:05:00`. */
function fullTime(start: string, locale?: string): string {
  const time = new Date(start);
  return Number.isNaN(time.getTime())
    ? ""
    : `Started ${time.toLocaleString(locale, { dateStyle: "long", timeStyle: "medium" })}`;
}

function list(lines: readonly string[]): string[] {
  return ["", ...lines.filter((line) => line !== "").map((line) => `- ${line}`)];
}

function code(command: string): string[] {
  return command === "" ? [] : ["", "```sh", command.replaceAll("```", "` ` `"), "```"];
}

/** As code, whatever backticks it has. */
function inCode(text: string): string {
  return `\`${text.replaceAll("`", "'").replace(/\s+/g, " ")}\``;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What is asked before rows are deleted: a question, and what is lost. */
export function deleteQuestion(
  nodes: readonly RunNode[],
  now: Date,
  locale?: string,
): { question: string; detail: string } {
  const runs = runsOf(nodes);
  const [node] = nodes;
  const size = sizeOf(runs);
  const lost = size === null ? "" : ` (${costText(size, "bytes")})`;
  const what = runs.length === 1 ? "Everything that it recorded" : "Everything that they recorded";
  const detail = `${what}${lost} is deleted from .fulcrum/runs. This cannot be undone.`;
  if (node === undefined || nodes.length > 1) {
    return { question: `Delete ${count(runs.length, "run")}?`, detail };
  }
  const when = whenText(runs.at(-1)?.start ?? "", now, locale);
  const of = when === "" ? "" : ` of ${when}`;
  const question =
    node.type === "loop"
      ? `Delete the refine loop ${labelOf(node)}${of} with its ${count(runs.length, "iteration")}?`
      : `Delete the run ${baseName(node.run.name)}${of}?`;
  return { question, detail };
}
