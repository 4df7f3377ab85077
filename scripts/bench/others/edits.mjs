/**
 * Small edits of other people's files: each finds a line by a part of its text, and changes it in place. Only that text is
 * kept here.
 *
 * @typedef {object} Edit
 * @property {string} at a part of the line
 * @property {string} [after] a part of an earlier line, after which the search starts
 * @property {number} [lines] joins this many lines without their comments, so that a loop is on one line
 * @property {true} [all] edits every matching line, not just the first
 * @property {[string, string][]} [with] replacements in the line, each made once
 * @property {string} [first] text to insert at the beginning of the line
 * @property {string} [before] a line to insert before it
 * @property {string} [behind] a line to insert after it
 * @property {string} [target] marks the line as the target of this name
 */
import { StepError } from "../../lib/steps.mjs";

/** @param {string} text @param {Edit[]} edits @param {string} name the file's name, for errors */
export function edited(text, edits, name) {
  return edits.reduce((lines, edit) => applied(lines, edit, name), text.split("\n")).join("\n");
}

function applied(lines, edit, name) {
  const found = places(lines, edit);
  if (found.length === 0) {
    const after = edit.after === undefined ? "" : ` after \`${edit.after}\``;
    throw new StepError(`${name} has no line with \`${edit.at}\`${after}: it is a different version.`);
  }
  return found.reduceRight((rest, at) => {
    const taken = edit.lines ?? 1;
    const changed = changedLine(rest.slice(at, at + taken), edit, name);
    const around = [edit.before, changed, edit.behind].filter((line) => line !== undefined);
    return [...rest.slice(0, at), ...around, ...rest.slice(at + taken)];
  }, lines);
}

function places(lines, { at, after, all }) {
  const from = after === undefined ? 0 : lines.findIndex((line) => line.includes(after));
  const found = lines.flatMap((line, number) => (from >= 0 && number >= from && line.includes(at) ? [number] : []));
  return all === true ? found : found.slice(0, 1);
}

function changedLine(lines, { with: pairs = [], first = "", target }, name) {
  const joined = lines.length === 1 ? lines[0] : lines.map(withoutComment).join(" ");
  const changed = pairs.reduce((line, [from, to]) => {
    if (!line.includes(from)) {
      throw new StepError(`${name} has no \`${from}\` in \`${line.trim()}\`: it is a different version.`);
    }
    return line.replace(from, () => to);
  }, joined);
  const marked = target === undefined ? changed : `${withoutComment(changed)} // TARGET: ${target}`;
  return first === "" ? marked : marked.replace(/^\s*/, (space) => `${space}${first} `);
}

function withoutComment(line) {
  return line.replace(/\s*\/\/.*$/, "").trim();
}
