/** The extension's start: builds the features and connects them. The engine starts when something needs it. */
import * as vscode from "vscode";
import type { CompareModel } from "./core/compare";
import type { LiveParams, ProfileSummary } from "./core/protocol";
import { Compare } from "./features/compare";
import { Engine, type EngineState } from "./features/engine";
import { Gutter, type ShownDecorations } from "./features/gutter";
import { inlayHintMiddleware, refreshInlayHints } from "./features/inlayHints";
import { Live } from "./features/live";
import { recentMessages } from "./features/messages";
import { OpenProfile } from "./features/openProfile";
import { registerProgressPoints } from "./features/progressPoint";
import { RankingView } from "./features/ranking";
import { Run } from "./features/run";
import { Session } from "./features/session";
import { Status } from "./features/status";

/** What tests see of the running extension. Not a promise to other extensions. */
export interface TestApi {
  activationMs: number;
  enginePid: () => number | undefined;
  engineState: () => EngineState;
  summary: () => ProfileSummary | null;
  runMessage: () => string | undefined;
  live: () => LiveParams | null | undefined;
  ranking: () => { label: string; description: string }[];
  statusText: () => string | undefined;
  comparison: () => CompareModel | undefined;
  currentDecorations: (uri: vscode.Uri) => ShownDecorations | undefined;
  /** Messages that the user was shown, oldest first. */
  messages: () => readonly string[];
  /** Resolves after the profile of the last session was looked for. */
  restored: Promise<void>;
}

let engine: Engine | undefined;

export function activate(context: vscode.ExtensionContext): TestApi {
  const begun = performance.now();
  const log = vscode.window.createOutputChannel("Fulcrum", { log: true });
  engine = new Engine(context, log, inlayHintMiddleware);
  const session = new Session(engine, context.workspaceState);
  const gutter = new Gutter(engine, session);
  const ranking = new RankingView(session);
  const status = new Status(engine, session);
  const profiles = new OpenProfile(engine, session);
  const live = new Live(engine, session);
  const compare = new Compare(engine, session, profiles, context.extensionUri);
  const run = new Run(engine, session, profiles, context.workspaceState);
  const running = engine;
  context.subscriptions.push(
    ...[log, session, gutter, ranking, status, profiles, live, compare, run],
    registerProgressPoints(running, context),
    refreshInlayHints(running, session),
    vscode.commands.registerCommand("fulcrum.showLog", () => log.show()),
    vscode.commands.registerCommand("fulcrum.restartEngine", () => running.restart()),
    vscode.commands.registerCommand("fulcrum.openWalkthrough", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
    ),
    startForCode(running),
  );
  const restored = profiles.restore().catch((error) => log.warn(`Looking for an earlier profile failed: ${error}`));
  const activationMs = performance.now() - begun;
  log.info(`Fulcrum ${context.extension.packageJSON.version} was activated in ${activationMs.toFixed(0)} ms.`);
  return {
    activationMs,
    enginePid: () => running.pid,
    engineState: () => running.state,
    summary: () => session.summary,
    runMessage: () => session.run?.message,
    live: () => session.run?.live,
    ranking: () => ranking.shownRows,
    statusText: () => status.text,
    comparison: () => compare.shown,
    currentDecorations: (uri) => gutter.decorations(uri),
    messages: () => [...recentMessages],
    restored,
  };
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
}

/** Code actions for progress points come from the engine, so C and C++ documents start it. */
function startForCode(running: Engine): vscode.Disposable {
  const start = (document: vscode.TextDocument) => {
    const isCode = document.uri.scheme === "file" && (document.languageId === "c" || document.languageId === "cpp");
    if (isCode && running.state === "idle") {
      running.ready().catch((error) => running.log.warn(`The engine could not be started: ${error.message ?? error}`));
    }
  };
  vscode.workspace.textDocuments.forEach(start);
  return vscode.workspace.onDidOpenTextDocument(start);
}
