/**
 * The engine: one `fulcrum lsp` process, started when first needed and started again whenever it stops.
 *
 * Each start makes a new client. A client of vscode-languageclient that failed while starting cannot be started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  ProgressType,
  RevealOutputChannelOn,
  WorkDoneProgressCancelNotification,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import { cleanEnvironment } from "../../core/causal/runRequest";
import {
  type LongClient,
  type LongOptions,
  type LongParams,
  longRequest,
  orCancelled,
  type WithToken,
} from "../../core/engine/longRequest";
import {
  type DidChangeResultsParams,
  hoverCommands,
  type LiveParams,
  type NotificationMessage,
  notifications,
  PROTOCOL_VERSION,
  type RefineLiveParams,
  type RequestMessage,
  type TransactionsLiveParams,
} from "../../core/engine/protocol";
import { RestartPolicy } from "../../core/engine/restart";
import * as messages from "./messages";

export type EngineState = "idle" | "running" | "restarting" | "failed";

/** Languages whose lines can be in a causal profile. */
const languages = [
  ...["c", "cpp", "cuda-cpp", "objective-c", "objective-cpp"],
  ...["rust", "go", "zig", "d", "nim", "swift", "FortranFreeForm", "fortran-modern"],
];

/** Other languages whose lines and functions are in profiles: their hot lines stay in place while the user types. */
const profiledLanguages = [
  ...["python", "javascript", "javascriptreact", "typescript", "typescriptreact", "ruby", "php", "perl", "lua", "r"],
  ...["java", "kotlin", "scala", "groovy", "clojure", "csharp", "fsharp", "dart", "julia", "haskell", "ocaml"],
  ...["erlang", "elixir"],
];

/** Filters of event traces. */
export const filterLanguage = "fulcrum-filter";

export class EngineUnavailable extends Error {
  readonly data = { blame: "environment" as const, advice: null };
}

export class Engine implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private process: ChildProcess | undefined;
  private starting: Promise<LanguageClient> | undefined;
  private restartTimer: NodeJS.Timeout | undefined;
  private readonly policy = new RestartPolicy();
  private startedBefore = false;
  private disposed = false;
  private currentState: EngineState = "idle";

  private readonly stateEmitter = new vscode.EventEmitter<EngineState>();
  private readonly resultsEmitter = new vscode.EventEmitter<DidChangeResultsParams>();
  private readonly liveEmitter = new vscode.EventEmitter<LiveParams>();
  private readonly refineEmitter = new vscode.EventEmitter<RefineLiveParams>();
  private readonly transactionsEmitter = new vscode.EventEmitter<TransactionsLiveParams>();
  private readonly restartedEmitter = new vscode.EventEmitter<void>();
  readonly onDidChangeState = this.stateEmitter.event;
  /** The engine opened or closed a profile. */
  readonly onDidChangeResults = this.resultsEmitter.event;
  /** A run that is going on has news. */
  readonly onDidReportLive = this.liveEmitter.event;
  /** A refine loop that is going on has news. */
  readonly onDidReportRefine = this.refineEmitter.event;
  /** A recording of transactions that is going on has news. */
  readonly onDidReportTransactions = this.transactionsEmitter.event;
  /** A new process runs in place of one that stopped. It knows nothing yet. */
  readonly onDidRestart = this.restartedEmitter.event;

  constructor(
    private readonly extension: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    private readonly middleware: Middleware,
  ) {}

  get state(): EngineState {
    return this.currentState;
  }

  get pid(): number | undefined {
    return this.process?.pid;
  }

  /** The running client, for conversions between protocol and editor types. */
  get running(): LanguageClient | undefined {
    return this.currentState === "running" ? this.client : undefined;
  }

  /** Starts the engine if it is not there, and waits until it answers. */
  ready(): Promise<LanguageClient> {
    if (this.currentState === "running" && this.client !== undefined) {
      return Promise.resolve(this.client);
    }
    if (this.currentState === "failed") {
      return Promise.reject(
        new EngineUnavailable("The engine keeps stopping. See the log, then run Fulcrum: Restart Engine."),
      );
    }
    return this.currentState === "restarting" && this.starting === undefined ? this.whenBack() : this.begin();
  }

  /** Sends a request and gives its result. Starts the engine if it is not there. */
  async request<P, R>(message: RequestMessage<P, R>, params: NoInfer<P>, token?: vscode.CancellationToken): Promise<R> {
    return send(await orCancelled(this.ready(), token), message, params, token);
  }

  /** Sends a request that reports its progress; see {@link longRequest}. */
  long<P extends WithToken, R>(
    message: RequestMessage<P, R>,
    params: LongParams<NoInfer<P>>,
    options: LongOptions,
  ): Promise<R> {
    return longRequest(async () => longClient(await this.ready()), message, params, options);
  }

  /** Stops the process, if any, and starts a new one: asked for by the user. */
  async restart(): Promise<void> {
    this.policy.reset();
    this.cancelTimer();
    await this.stop();
    this.setState("restarting");
    try {
      await this.begin();
    } catch (error) {
      // A process that ended is started again; where none was found, the next request looks for one.
      if (this.restartTimer === undefined && this.currentState === "restarting") {
        this.setState("idle");
      }
      throw error;
    }
  }

  dispose(): Promise<void> {
    this.disposed = true;
    this.cancelTimer();
    return this.stop();
  }

  /** The pause before a restart is for everyone: a request in the meantime waits for it. */
  private whenBack(): Promise<LanguageClient> {
    return new Promise((resolve, reject) => {
      const listening = this.onDidChangeState(() => {
        listening.dispose();
        this.ready().then(resolve, reject);
      });
    });
  }

  private begin(): Promise<LanguageClient> {
    this.starting ??= this.start().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async start(): Promise<LanguageClient> {
    this.cancelTimer();
    const binary = await this.findBinary();
    const begun = Date.now();
    this.policy.started(begun);
    const client = new QuietClient(
      "fulcrum",
      "Fulcrum",
      async () => ({ process: this.spawn(binary), detached: true }),
      this.clientOptions(),
    );
    subscribe(client, notifications.didChangeResults, this.resultsEmitter);
    subscribe(client, notifications.live, this.liveEmitter);
    subscribe(client, notifications.refineLive, this.refineEmitter);
    subscribe(client, notifications.transactionsLive, this.transactionsEmitter);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.closed(client);
      throw error;
    }
    this.checkVersion(client);
    this.log.info(`Engine ${binary} runs as process ${this.pid}; it was ready in ${Date.now() - begun} ms.`);
    this.setState("running");
    if (this.startedBefore) {
      this.restartedEmitter.fire();
    }
    this.startedBefore = true;
    return client;
  }

  private cancelTimer(): void {
    clearTimeout(this.restartTimer);
    this.restartTimer = undefined;
  }

  private spawn(binary: string): ChildProcess {
    // The profiled program inherits this environment, so it must not hold the editor's own variables.
    const child = spawn(binary, ["lsp"], { stdio: "pipe", env: cleanEnvironment(process.env) });
    child.on("error", (error) => this.log.error(`The engine ${binary} could not be started: ${error.message}`));
    child.on("exit", (code, signal) =>
      this.log.info(`Engine process ${child.pid} ended: ${signal === null ? `exit code ${code}` : signal}.`),
    );
    // A write to a process that has just died must not become an unhandled error.
    child.stdin?.on("error", () => undefined);
    this.process = child;
    return child;
  }

  private clientOptions(): LanguageClientOptions {
    return {
      documentSelector: [
        ...[...languages, ...profiledLanguages].map((language) => ({ scheme: "file", language })),
        // Filters are proposed in documents that have no file yet.
        { language: filterLanguage },
      ],
      outputChannel: this.log,
      traceOutputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      diagnosticCollectionName: "fulcrum",
      markdown: { isTrusted: { enabledCommands: hoverCommands } },
      middleware: this.middleware,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const client = this.client;
          // Requests that are rejected by this very event may ask for the engine at once: they must not get this client.
          this.setState("restarting");
          // The client finishes its own clean-up after this returns; only then may a new one start.
          setImmediate(() => this.closed(client));
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
      initializationFailedHandler: () => false,
    };
  }

  private closed(client: LanguageClient | undefined): void {
    if (this.disposed || client === undefined || client !== this.client) {
      return;
    }
    this.client = undefined;
    this.process?.kill("SIGKILL");
    this.process = undefined;
    this.scheduleRestart();
  }

  private scheduleRestart(): void {
    const decision = this.policy.crashed(Date.now());
    if (!decision.restart) {
      this.log.error(`The engine stopped ${decision.crashes} times in a row. It is not started again.`);
      this.setState("failed");
      void this.offerRestart();
      return;
    }
    this.log.warn(`The engine stopped. It is started again in ${decision.delay} ms.`);
    this.setState("restarting");
    this.restartTimer = setTimeout(() => {
      this.restartTimer = undefined;
      void this.comeBack();
    }, decision.delay);
  }

  private async comeBack(): Promise<void> {
    try {
      await this.begin();
    } catch (error) {
      this.log.debug(`The engine did not start: ${error}`);
      // A process that ended was counted by `closed`; a missing binary, as while it is being built, was not.
      if (this.restartTimer === undefined && this.currentState === "restarting") {
        this.scheduleRestart();
      }
    }
  }

  private async offerRestart(): Promise<void> {
    const showLog = "Show Log";
    const restart = "Restart";
    const choice = await messages.error(
      "Fulcrum's engine stopped five times in a row and does not restart by itself any more. See the log for the reason, then restart it.",
      showLog,
      restart,
    );
    if (choice === showLog) {
      this.log.show();
    } else if (choice === restart) {
      await vscode.commands.executeCommand("fulcrum.restartEngine");
    }
  }

  private async stop(): Promise<void> {
    const client = this.client;
    const child = this.process;
    this.client = undefined;
    this.process = undefined;
    try {
      await client?.stop(3000);
    } catch (error) {
      this.log.debug(`The engine did not stop by itself: ${error}`);
    }
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      setTimeout(() => child.kill("SIGKILL"), 1000).unref();
    }
  }

  /** The first that is there: the test variable, the setting, the packaged binary, the developer's build. */
  private async findBinary(): Promise<string> {
    const name = process.platform === "win32" ? "fulcrum.exe" : "fulcrum";
    const setting = vscode.workspace.getConfiguration("fulcrum").get<string>("enginePath", "").trim();
    const fixed = process.env.FULCRUM_ENGINE || setting;
    if (fixed) {
      if (await isExecutable(fixed)) {
        return fixed;
      }
      throw new EngineUnavailable(
        `There is no executable engine at ${fixed}. Correct the setting fulcrum.enginePath, or clear it to use the engine of the extension.`,
      );
    }
    const candidates = [
      this.extension.asAbsolutePath(path.join("bin", name)),
      this.extension.asAbsolutePath(path.join("engine", "target", "release", name)),
    ];
    for (const candidate of candidates) {
      if (await isExecutable(candidate)) {
        return candidate;
      }
    }
    throw new EngineUnavailable(
      `This build of the extension has no engine for ${process.platform}-${process.arch}. Install the build for your platform, or name a binary in the setting fulcrum.enginePath.`,
    );
  }

  private checkVersion(client: LanguageClient): void {
    const version: unknown = client.initializeResult?.capabilities.experimental?.fulcrum?.version;
    if (typeof version === "number" && version !== PROTOCOL_VERSION) {
      this.log.warn(`The engine speaks protocol version ${version}; this extension speaks ${PROTOCOL_VERSION}.`);
      void messages.warn(
        "Fulcrum's engine and extension have different versions, so some results may be missing. Clear the setting fulcrum.enginePath to use the engine of the extension.",
      );
    }
  }

  private setState(state: EngineState): void {
    if (state !== this.currentState) {
      this.currentState = state;
      this.stateEmitter.fire(state);
    }
  }
}

/** Writes errors to the log only. {@link Engine} decides which of them the user sees. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** With a third argument, even `undefined`, the client would send the parameters by position. */
function send<P, R>(
  client: LanguageClient,
  { method }: RequestMessage<P, R>,
  params: P,
  token: vscode.CancellationToken | undefined,
): Promise<R> {
  return token === undefined ? client.sendRequest<R>(method, params) : client.sendRequest<R>(method, params, token);
}

/** Fires the emitter at each notification of a kind. */
function subscribe<P>(
  client: LanguageClient,
  { method }: NotificationMessage<P>,
  emitter: vscode.EventEmitter<P>,
): void {
  client.onNotification(method, (params: P) => emitter.fire(params));
}

/** What {@link longRequest} needs of a client. */
function longClient(client: LanguageClient): LongClient {
  return {
    request: (message, params, token) => send(client, message, params, token),
    onProgress: (workDoneToken, listener) =>
      client.onProgress(new ProgressType<WorkDoneProgressReport>(), workDoneToken, listener),
    // An engine that is gone has stopped the work; the request itself fails then.
    stopWork: (token) =>
      void client.sendNotification(WorkDoneProgressCancelNotification.type, { token }).catch(() => undefined),
  };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
