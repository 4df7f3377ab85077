/** The rows of the question for a program: the last one, what can be built first, what is built, what was typed. */
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import { programProblem, type RunInput, resolvePath } from "../../core/causal/runRequest";
import type { JavaTarget } from "../../core/programs/java";
import type { Candidate } from "../../core/programs/targets";
import { joinShellWords } from "../../core/text/shellWords";
import { javaItem } from "../trace/traceWizard";
import { findPrograms, type Programs, programFacts } from "./programs";

export interface ProgramItem extends vscode.QuickPickItem {
  program?: string;
  /** A Java program, which is traced instead. */
  target?: JavaTarget;
  also?: Partial<RunInput>;
  browse?: true;
}

const browse: ProgramItem = { label: "$(folder-opened) Browse…", browse: true, alwaysShow: true };

/** Fills a list while programs are searched for, and while the user types. */
export class ProgramRows {
  private last: ProgramItem[] = [];
  private found: ProgramItem[] = [];

  constructor(
    private readonly pick: vscode.QuickPick<ProgramItem>,
    private readonly input: RunInput,
    /** The folder that is looked through, and against which typed paths are resolved. */
    private readonly base: string,
  ) {
    pick.busy = true;
    pick.onDidChangeValue(() => void this.show());
    void this.showLast();
    void findPrograms(base).then((programs) => {
      this.found = programItems(programs, base, input);
      pick.busy = false;
      void this.show();
    });
  }

  /** `undefined` when a program can be started, else one sentence. */
  async problemOf(program: string): Promise<string | undefined> {
    const file = resolvePath(program, this.base, homedir());
    return programProblem(file, await programFacts(file));
  }

  /** Checks again what was run last: it may be missing by now. */
  async showLast(): Promise<void> {
    if (this.input.program !== "") {
      this.last = [await lastItem(this.input, this.base, (program) => this.problemOf(program))];
    }
    await this.show();
  }

  async show(): Promise<void> {
    const { pick } = this;
    const typed = pick.value.trim();
    const known = [...this.last, ...this.found];
    if (typed === "" || known.some((item) => item.label === typed)) {
      pick.items = [...known, browse];
      return;
    }
    const problem = await this.problemOf(typed);
    if (typed !== pick.value.trim()) {
      return;
    }
    const detail = problem ?? resolvePath(typed, this.base, homedir());
    const exact: ProgramItem = { label: typed, detail, program: typed, alwaysShow: true };
    // A path that leads nowhere may be the name of something that is built first.
    pick.items = problem === undefined ? [exact, ...known, browse] : [...known, exact, browse];
  }
}

/** What was run last. It may be missing by now: the row says so before it is chosen. */
async function lastItem(
  input: RunInput,
  base: string,
  problemOf: (program: string) => Promise<string | undefined>,
): Promise<ProgramItem> {
  const { build } = input;
  const item = programItem(input.program, base);
  if (build !== undefined) {
    return { ...item, label: `$(tools) ${build.name}`, description: "last time · built first", also: { build } };
  }
  const problem = await problemOf(input.program);
  return { ...item, description: "last time", ...(problem !== undefined && { detail: problem }) };
}

function programItem(program: string, base: string): ProgramItem {
  return { label: shortPath(program, base), program };
}

/** Relative where that is shorter to read. */
function shortPath(file: string, base: string): string {
  const relative = path.relative(base, path.resolve(base, file));
  return relative.startsWith("..") || relative === "" ? file : relative;
}

/** Programs that are there, then targets that are built first, each under a heading. */
function programItems({ built, targets, java }: Programs, base: string, input: RunInput): ProgramItem[] {
  const heading = (label: string): ProgramItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const others = built.filter(({ file }) => input.build !== undefined || file !== path.resolve(base, input.program));
  const programs = others.map(({ file, hasDebugInfo }) => ({
    ...programItem(file, base),
    ...(!hasDebugInfo && { description: "no debug information: build it with -g" }),
  }));
  const javaRow = (target: JavaTarget): ProgramItem => javaItem(target, base);
  const toBuild = targets.map((target) => targetItem(target, base));
  return [
    ...(toBuild.length === 0 ? [] : [heading("build first, then run"), ...toBuild]),
    ...(programs.length === 0 ? [] : [heading("built already"), ...programs]),
    ...(java.length === 0 ? [] : [heading("Java: recorded as a trace"), ...java.map(javaRow)]),
  ];
}

function targetItem({ label, program, from, build, args, cwd }: Candidate, base: string): ProgramItem {
  const where = build === undefined ? "" : shortPath(build.folder, base);
  const folder = where === "" || where === base ? "" : ` in ${where}`;
  const isBuilt = build !== undefined && build.kind !== "task";
  return {
    label: `$(${build === undefined ? "play" : "tools"}) ${label}`,
    description: `${from}${isBuilt ? folder : ""}`,
    program: program ?? label,
    also: {
      ...(build !== undefined && { build }),
      ...(args !== undefined && { args: joinShellWords(args) }),
      ...(cwd !== undefined && { cwd }),
    },
  };
}
