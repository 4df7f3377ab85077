/** The causal results that are open: the profile, its ranking, the chosen progress point, and the run in progress. */
import * as vscode from "vscode";
import { isPaused, type RunState } from "../../core/causal/live";
import { hasAnswer } from "../../core/causal/runAgain";
import {
  type LiveParams,
  type ProfileSummary,
  type Ranking,
  type RankingRow,
  requests,
} from "../../core/engine/protocol";
import { Owner } from "../../core/owner";
import type { Engine } from "../editor/engine";

/** What the workspace remembers of the profile that was open. */
type Remembered = { path: string } | { clearedAt: number };

const rememberedKey = "fulcrum.profile";

export interface RunInProgress extends RunState {
  /** The run's progress token. */
  token: string;
  cancel: () => void;
}

export class CausalResults extends Owner {
  private currentSummary: ProfileSummary | null = null;
  private currentRankings: Ranking[] = [];
  private chosenPoint: string | null = null;
  private currentRun: RunInProgress | null = null;
  private generation = 0;
  private openCount = 0;
  private lastOpen: Promise<unknown> = Promise.resolve();
  private latestShow: Promise<void> = Promise.resolve();
  private reopening: Promise<void> = Promise.resolve();

  private readonly resultsEmitter = this.own(new vscode.EventEmitter<void>());
  private readonly runEmitter = this.own(new vscode.EventEmitter<void>());
  /** The profile, its ranking or the chosen progress point changed. */
  readonly onDidChangeResults = this.resultsEmitter.event;
  /** A run began, reported progress, or ended. */
  readonly onDidChangeRun = this.runEmitter.event;

  constructor(
    private readonly engine: Engine,
    private readonly memory: vscode.Memento,
  ) {
    super();
    this.ownAll(
      engine.onDidChangeResults(({ summary }) => {
        this.show(summary).catch((error) => engine.log.warn(`The ranking could not be fetched: ${error}`));
      }),
      engine.onDidReportLive((live) => this.report(live)),
      engine.onDidRestart(() => {
        this.reopening = this.reopen();
      }),
    );
  }

  get summary(): ProfileSummary | null {
    return this.currentSummary;
  }

  /** One ranking for each progress point, in the order of the profile. */
  get rankings(): readonly Ranking[] {
    return this.currentRankings;
  }

  /** Rows for the chosen progress point. */
  get rows(): readonly RankingRow[] {
    const chosen = this.currentRankings.find((ranking) => ranking.progressPoint === this.chosenPoint);
    return (chosen ?? this.currentRankings[0])?.rows ?? [];
  }

  /** `null`: the first of the profile. */
  get progressPoint(): string | null {
    return this.chosenPoint;
  }

  /** Whether what is open has an answer: a target with data. */
  get hasAnswer(): boolean {
    return hasAnswer(this.currentRankings);
  }

  /** What is open, if it has an answer. */
  get answered(): ProfileSummary | null {
    return this.hasAnswer ? this.currentSummary : null;
  }

  /** Whether what is open is a finished run of a workspace, which another run can continue. */
  get canRunLonger(): boolean {
    const summary = this.currentSummary;
    return summary !== null && !summary.live && /[/\\]\.fulcrum[/\\]runs[/\\]/.test(summary.path);
  }

  /** Whether it has experiments, but too few for an answer: only hollow circles are shown. */
  get isHollow(): boolean {
    return this.canRunLonger && !this.hasAnswer && this.currentRankings.some(({ rows }) => rows.length > 0);
  }

  get run(): RunInProgress | null {
    return this.currentRun;
  }

  get remembered(): Remembered | undefined {
    return this.memory.get<Remembered>(rememberedKey);
  }

  /** Resolves when the profile of an engine that stopped is open again, or cannot be opened. */
  whenReopened(): Promise<void> {
    return this.reopening;
  }

  /** How often the user asked for a profile. Whoever opens one unasked checks whether the user asked meanwhile. */
  get opens(): number {
    return this.openCount;
  }

  open(path: string): Promise<ProfileSummary> {
    this.openCount += 1;
    return this.openUnasked(path);
  }

  private async openUnasked(path: string): Promise<ProfileSummary> {
    // One after the other: the engine opens in parallel, and what was requested last must be what stays open.
    const turn = this.lastOpen.then(() => this.engine.request(requests.CausalOpen, { path }));
    this.lastOpen = turn.catch(() => undefined);
    const summary = await turn;
    await this.show(summary);
    return summary;
  }

  /** A run without an answer never hides an earlier one that has one: opens that again, and gives its title. */
  async keepAnswer(before: ProfileSummary | null): Promise<string | undefined> {
    if (before === null || this.hasAnswer || before.path === this.currentSummary?.path) {
      return undefined;
    }
    try {
      return (await this.openUnasked(before.path)).title;
    } catch (error) {
      this.engine.log.warn(`${before.path} could not be opened again: ${error}`);
      return undefined;
    }
  }

  async clear(): Promise<void> {
    if (this.engine.state === "running") {
      await this.engine.request(requests.CausalClear, {});
    }
    await this.show(null);
    await this.memory.update(rememberedKey, { clearedAt: Date.now() } satisfies Remembered);
  }

  choosePoint(name: string | null): void {
    this.chosenPoint = name;
    this.resultsEmitter.fire();
  }

  setRun(run: RunInProgress | null): void {
    const before = this.currentRun;
    this.currentRun = run;
    if ((run === null) !== (before === null)) {
      setContext("fulcrum.running", run !== null);
    }
    if (isPaused(run) !== isPaused(before)) {
      setContext("fulcrum.paused", isPaused(run));
    }
    this.runEmitter.fire();
  }

  /** Shows what the engine has open. Called for its answer and for its notification; the later one wins. */
  async show(summary: ProfileSummary | null): Promise<void> {
    this.latestShow = this.fetchAndShow(summary);
    // Callers that wait for an earlier call expect results too, so they wait for the call that overtook it.
    let seen: Promise<void>;
    do {
      seen = this.latestShow;
      await seen;
    } while (seen !== this.latestShow);
  }

  private async fetchAndShow(summary: ProfileSummary | null): Promise<void> {
    this.generation += 1;
    const generation = this.generation;
    const rankings = summary === null ? [] : await this.fetchRankings(summary);
    if (generation !== this.generation) {
      return;
    }
    this.currentSummary = summary;
    this.currentRankings = rankings;
    if (!summary?.progressPoints.some((point) => point.name === this.chosenPoint)) {
      this.chosenPoint = null;
    }
    if (summary !== null) {
      void this.memory.update(rememberedKey, { path: summary.path } satisfies Remembered);
    }
    setContext("fulcrum.hasResults", summary !== null);
    setContext("fulcrum.canRunLonger", this.canRunLonger);
    setContext("fulcrum.hollow", this.isHollow);
    setContext("fulcrum.severalProgressPoints", (summary?.progressPoints.length ?? 0) > 1);
    this.resultsEmitter.fire();
  }

  private report(live: LiveParams): void {
    if (this.currentRun !== null && live.token === this.currentRun.token) {
      this.setRun({ ...this.currentRun, live, message: live.message });
    }
  }

  private async fetchRankings(summary: ProfileSummary): Promise<Ranking[]> {
    const names = summary.progressPoints.length === 0 ? [null] : summary.progressPoints.map((point) => point.name);
    return Promise.all(names.map((progressPoint) => this.engine.request(requests.CausalRanking, { progressPoint })));
  }

  private async reopen(): Promise<void> {
    const path = this.currentSummary?.path;
    if (path === undefined) {
      return;
    }
    try {
      await this.openUnasked(path);
      this.engine.log.info(`Opened ${path} again.`);
    } catch (error) {
      this.engine.log.error(`Opening ${path} again failed: ${error}`);
    }
  }
}

function setContext(key: string, value: boolean): void {
  void vscode.commands.executeCommand("setContext", key, value);
}
