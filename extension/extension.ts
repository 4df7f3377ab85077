/** The extension's start: builds the features and connects them. The engine starts when something needs it. */
import * as vscode from "vscode";
import type { CompareModel } from "./core/causal/compare";
import type {
  EventsOpened,
  LiveParams,
  NavigatorStep,
  ProfileSummary,
  TransactionsOpened,
} from "./core/engine/protocol";
import type { RowModel } from "./core/navigator/lists";
import type { NavigatorModel } from "./core/navigator/model";
import { pagesBegun } from "./core/page";
import { onDidShow } from "./core/shown";
import type { TraceComparison } from "./core/trace/compare";
import type { RefineModel } from "./core/trace/refine";
import type { ComparedTypes } from "./core/transactions/compare";
import { Compare } from "./features/causal/compare";
import { hoverPlotMiddleware } from "./features/causal/hoverPlot";
import { inlayHintMiddleware, refreshInlayHints } from "./features/causal/inlayHints";
import { Lens } from "./features/causal/lens";
import { Live } from "./features/causal/live";
import { OpenProfile } from "./features/causal/openProfile";
import { RankingView } from "./features/causal/ranking";
import { Sample } from "./features/causal/sample";
import { Session } from "./features/causal/session";
import { Status } from "./features/causal/status";
import { Welcome } from "./features/causal/welcome";
import { Engine, type EngineState } from "./features/editor/engine";
import { firstLook, startOnGesture } from "./features/editor/firstGesture";
import * as messages from "./features/editor/messages";
import { type CausalMarks, Gutter } from "./features/marks/gutter";
import { GutterChoice } from "./features/marks/gutterChoice";
import { HotLines, type HotMarks } from "./features/marks/hotLines";
import { registerBottlenecks } from "./features/navigator/bottlenecks";
import { FileEditors } from "./features/navigator/fileEditor";
import { FlameGraphPanel } from "./features/navigator/flameGraph";
import { NameRules } from "./features/navigator/nameRules";
import { Navigation } from "./features/navigator/navigation";
import { NavigatorView } from "./features/navigator/navigator";
import { NavigatorCommands } from "./features/navigator/navigatorCommands";
import { ProfileMenus } from "./features/navigator/profileMenus";
import { Profiles } from "./features/navigator/profiles";
import { ProgressLines } from "./features/progressPoints/progressLines";
import { prepareAfterActions, registerProgressPoints } from "./features/progressPoints/progressPoint";
import { Run } from "./features/run/run";
import { tellRunKinds } from "./features/runs/runKinds";
import { RunStore } from "./features/runs/runStore";
import { RunsView, type ShownRun } from "./features/runs/runs";
import { Refine } from "./features/trace/refine";
import { TraceCompare } from "./features/trace/traceCompare";
import { Traces } from "./features/trace/traces";
import { RecordTransactions } from "./features/transactions/recordTransactions";
import { Transactions } from "./features/transactions/transactions";
import { TransactionsCompare } from "./features/transactions/transactionsCompare";

/** What tests see of the running extension. Not a promise to other extensions. */
export interface TestApi {
  activationMs: number;
  enginePid: () => number | undefined;
  engineState: () => EngineState;
  summary: () => ProfileSummary | null;
  runMessage: () => string | undefined;
  live: () => LiveParams | null | undefined;
  ranking: () => { label: string; description: string }[];
  /** The rows of the Runs view. */
  runs: () => ShownRun[];
  statusText: () => string | undefined;
  comparison: () => CompareModel | undefined;
  navigator: () => NavigatorModel | undefined;
  /** Paths of rows as the Navigator would show them. */
  navigatorRows: (step: NavigatorStep, count: number) => Promise<RowModel[]>;
  trace: () => EventsOpened | undefined;
  refine: () => RefineModel | undefined;
  traceComparison: () => TraceComparison | undefined;
  transactions: () => TransactionsOpened | undefined;
  transactionsComparison: () => ComparedTypes | undefined;
  hotLines: (uri: vscode.Uri) => HotMarks | undefined;
  currentDecorations: (uri: vscode.Uri) => CausalMarks | undefined;
  /** Whether the marks in all editors are what the engine says of the documents as they are now. */
  marksSettled: () => boolean;
  /** How many pages of webviews have said that they are there. */
  pagesBegun: () => number;
  /** Something that is told here has changed. */
  onDidChange: (listener: () => void) => { dispose(): void };
  /** Messages that the user was shown, oldest first. */
  messages: () => readonly string[];
  /** Resolves after the profile of the last session was looked for: once there is a file that it may be about. */
  restored: Promise<void>;
}

let engine: Engine | undefined;

export function activate(context: vscode.ExtensionContext): TestApi {
  const begun = performance.now();
  const log = vscode.window.createOutputChannel("Fulcrum", { log: true });
  engine = new Engine(context, log, { ...inlayHintMiddleware, ...hoverPlotMiddleware, ...prepareAfterActions });
  const session = new Session(engine, context.workspaceState);
  const navigation = new Navigation(engine, context.workspaceState);
  const choice = new GutterChoice(session, navigation);
  const store = new RunStore(engine);
  const gutter = new Gutter(engine, session, choice);
  const hotLines = new HotLines(engine, navigation, choice);
  const ranking = new RankingView(session);
  const welcome = new Welcome(session, context.workspaceState);
  const profiles = new OpenProfile(engine, session, store, welcome);
  const live = new Live(engine, session);
  const compare = new Compare(engine, session, profiles, context.extensionUri);
  const lines = new ProgressLines(context.workspaceState);
  const run = new Run(engine, session, profiles, lines, context.workspaceState);
  const status = new Status(engine, session, choice, () => run.lastProgram);
  const navigator = new NavigatorView(engine, navigation, context.extensionUri);
  const traces = new Traces(engine, navigation, store, context.workspaceState, context.extensionUri);
  const refine = new Refine(engine, traces, context.extensionUri);
  const traceCompare = new TraceCompare(engine, traces, context.extensionUri);
  const transactions = new Transactions(engine, navigation, store, context.extensionUri);
  const transactionsCompare = new TransactionsCompare(engine, navigation, store, context.extensionUri);
  const runs = new RunsView(engine, session, store, refine);
  const running = engine;
  context.subscriptions.push(
    ...[log, session, store, gutter, ranking, status, profiles, live, compare, run],
    ...[navigation, choice, hotLines, navigator, new Profiles(navigation), registerBottlenecks(navigation)],
    ...[new NavigatorCommands(engine, navigation), new NameRules(engine, navigation)],
    ...[traces, refine, traceCompare, transactions, transactionsCompare, runs],
    new RecordTransactions(engine, context.workspaceState, transactions),
    new FlameGraphPanel(engine, navigation, context.extensionUri),
    ...[lines, new Lens(session, lines, () => run.lastProgram)],
    registerProgressPoints(running, context),
    refreshInlayHints(running, session),
    tellRunKinds(running, store),
    new ProfileMenus(log),
    new Sample(engine, context.extensionUri, context.globalStorageUri),
    new FileEditors(engine, session, navigation, { traces, transactions }, context.extensionUri),
    vscode.commands.registerCommand("fulcrum.showLog", () => log.show()),
    vscode.commands.registerCommand("fulcrum.restartEngine", () =>
      running.restart().catch((error) => void messages.showTrouble(log, "Restarting the engine", error)),
    ),
    vscode.commands.registerCommand("fulcrum.openWalkthrough", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
    ),
    startOnGesture(running),
  );
  const restored = firstLook(ranking, context.subscriptions)
    .then(() => profiles.restore())
    .catch((error) => log.warn(`Looking for an earlier profile failed: ${error}`));
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
    runs: () => runs.shownRows,
    statusText: () => status.text,
    comparison: () => compare.shown,
    navigator: () => navigator.shown,
    navigatorRows: (step, count) => navigator.rowsOf(step, count),
    trace: () => traces.shown,
    refine: () => refine.shown,
    traceComparison: () => traceCompare.shown,
    transactions: () => transactions.shown,
    transactionsComparison: () => transactionsCompare.shown,
    hotLines: (uri) => hotLines.decorations(uri),
    currentDecorations: (uri) => gutter.decorations(uri),
    marksSettled: () => gutter.settled && hotLines.settled,
    pagesBegun,
    onDidChange: onDidShow,
    messages: () => [...messages.recentMessages],
    restored,
  };
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
}
