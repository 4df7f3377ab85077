/** What is open now: the profile, its ranking, the chosen progress point, and the run that is going on. */
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

/** What the workspace remembers about the profile that was open. */
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

  /** One ranking a progress point, the order of the profile. */
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

  /** Whether what is open says anything: a target with data. */
  get hasAnswer(): boolean {
    return hasAnswer(this.currentRankings);
  }

  /** What is open, when it says anything. */
  get answered(): ProfileSummary | null {
    return this.hasAnswer ? this.currentSummary : null;
  }

  /** Whether what is open is a run of a workspace that has ended: another one can go on from it. */
  get canRunLonger(): boolean {
    const summary = this.currentSummary;
    return summary !== null && !summary.live && /[/\\]\.fulcrum[/\\]runs[/\\]/.test(summary.path);
  }

  /** Whether it has experiments, but too few for an answer: hollow circles only. */
  get isHollow(): boolean {
    return this.canRunLonger && !this.hasAnswer && this.currentRankings.some(({ rows }) => rows.length > 0);
  }

  get run(): RunInProgress | null {
    return this.currentRun;
  }

  get remembered(): Remembered | undefined {
    return this.memory.get<Remembered>(rememberedKey);
  }

  /** Resolves when a profile that was open in an engine that stopped is open again, or could not be. */
  whenReopened(): Promise<void> {
    return this.reopening;
  }

  /** How often a profile was asked for. Whoever opens one unasked looks whether somebody asked meanwhile. */
  get opens(): number {
    return this.openCount;
  }

  async open(path: string, asked = true): Promise<ProfileSummary> {
    this.openCount += asked ? 1 : 0;
    // One after the other: the engine opens in parallel, and what was asked for last must be what stays open.
    const turn = this.lastOpen.then(() => this.engine.request(requests.CausalOpen, { path }));
    this.lastOpen = turn.catch(() => undefined);
    const summary = await turn;
    await this.show(summary);
    return summary;
  }

  /** A run without an answer never hides an earlier one that has one: that is opened again, and its title is given. */
  async keepAnswer(before: ProfileSummary | null): Promise<string | undefined> {
    if (before === null || this.hasAnswer || before.path === this.currentSummary?.path) {
      return undefined;
    }
    try {
      return (await this.open(before.path, false)).title;
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

  /** Shows what the engine has open. Called for its answer and for its notification alike; the later one wins. */
  async show(summary: ProfileSummary | null): Promise<void> {
    this.latestShow = this.fetchAndShow(summary);
    // Who waits for an earlier call wants to see results too, so it waits for the call that overtook it.
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
      await this.open(path, false);
      this.engine.log.info(`Opened ${path} again.`);
    } catch (error) {
      this.engine.log.error(`Opening ${path} again failed: ${error}`);
    }
  }
}

function setContext(key: string, value: boolean): void {
  void vscode.commands.executeCommand("setContext", key, value);
}
