/** The extension's start: builds the features and connects them. The engine starts when something needs it. */
import * as vscode from "vscode";
import { onDidShow } from "./core/shown";
import { CausalProfileCommands } from "./features/causal/causalProfileCommands";
import { CausalResults } from "./features/causal/causalResults";
import { Compare } from "./features/causal/compare";
import { hoverPlotMiddleware } from "./features/causal/hoverPlot";
import { inlayHintMiddleware, refreshInlayHints } from "./features/causal/inlayHints";
import { Lens } from "./features/causal/lens";
import { Live } from "./features/causal/live";
import { RankingView } from "./features/causal/ranking";
import { Sample } from "./features/causal/sample";
import { Status } from "./features/causal/status";
import { Welcome } from "./features/causal/welcome";
import { Engine } from "./features/editor/engine";
import { firstLook, startOnGesture } from "./features/editor/firstGesture";
import * as messages from "./features/editor/messages";
import { Gutter } from "./features/marks/gutter";
import { GutterChoice } from "./features/marks/gutterChoice";
import { HotLines } from "./features/marks/hotLines";
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
import { publishRunKinds } from "./features/runs/runKinds";
import { RunStore } from "./features/runs/runStore";
import { RunsView } from "./features/runs/runs";
import { Refine } from "./features/trace/refine";
import { TraceCompare } from "./features/trace/traceCompare";
import { Traces } from "./features/trace/traces";
import { RecordTransactions } from "./features/transactions/recordTransactions";
import { Transactions } from "./features/transactions/transactions";
import { TransactionsCompare } from "./features/transactions/transactionsCompare";

/** The running extension, for whoever observes it from outside, as tests do. Not a promise to other extensions. */
export interface Fulcrum {
  engine: Engine;
  results: CausalResults;
  navigation: Navigation;
  ranking: RankingView;
  runs: RunsView;
  /** Reports what the user is shown. */
  onDidShow: typeof onDidShow;
  /** Resolves after the last window's profile was looked for: once there is a file that it may be about. */
  restored: Promise<void>;
}

let engine: Engine | undefined;

export function activate(context: vscode.ExtensionContext): Fulcrum {
  const begun = performance.now();
  const log = vscode.window.createOutputChannel("Fulcrum", { log: true });
  engine = new Engine(context, log, { ...inlayHintMiddleware, ...hoverPlotMiddleware, ...prepareAfterActions });
  const results = new CausalResults(engine, context.workspaceState);
  const navigation = new Navigation(engine, context.workspaceState);
  const choice = new GutterChoice(results, navigation);
  const store = new RunStore(engine);
  const ranking = new RankingView(results);
  const welcome = new Welcome(results, context.workspaceState);
  const profiles = new CausalProfileCommands(engine, results, store, welcome);
  const lines = new ProgressLines(context.workspaceState);
  const run = new Run(engine, results, profiles, lines, context.workspaceState);
  const traces = new Traces(engine, navigation, store, context.workspaceState, context.extensionUri);
  const refine = new Refine(engine, traces, context.extensionUri);
  const transactions = new Transactions(engine, navigation, store, context.extensionUri);
  const runs = new RunsView(engine, results, store, refine);
  const running = engine;
  const uri = context.extensionUri;
  context.subscriptions.push(
    ...[log, results, store, ranking, profiles, run, navigation, choice, lines, traces, refine, transactions, runs],
    ...[new Gutter(engine, results, choice), new HotLines(engine, navigation, choice)],
    new Status(engine, results, choice, () => run.lastProgram),
    new Lens(results, lines, () => run.lastProgram),
    new Live(engine, results),
    new Compare(engine, results, profiles, uri),
    new NavigatorView(engine, navigation, uri),
    ...[new Profiles(navigation), new NavigatorCommands(engine, navigation), new NameRules(engine, navigation)],
    registerBottlenecks(engine, navigation),
    new FlameGraphPanel(engine, navigation, uri),
    new TraceCompare(engine, traces, uri),
    new RecordTransactions(engine, context.workspaceState, transactions),
    new TransactionsCompare(engine, navigation, store, uri),
    registerProgressPoints(running, context),
    refreshInlayHints(running, results),
    publishRunKinds(running, store),
    new ProfileMenus(log),
    new Sample(engine, uri, context.globalStorageUri),
    new FileEditors(engine, uri, { results, navigation }, { traces, transactions }),
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
  const took = performance.now() - begun;
  log.info(`Fulcrum ${context.extension.packageJSON.version} was activated in ${took.toFixed(0)} ms.`);
  return { engine, results, navigation, ranking, runs, onDidShow, restored };
}

export async function deactivate(): Promise<void> {
  await engine?.dispose();
}
