import type { RunState } from "../../extension/core/causal/live";
import type {
  LineSpeedup,
  LiveParams,
  ProfileSummary,
  Ranking,
  RankingRow,
  RunEntry,
} from "../../extension/core/engine/protocol";

/** A row of the ranking. Pass only the fields that the test is about. */
export function row(over: Partial<RankingRow> = {}): RankingRow {
  return {
    target: "/src/two-threads.cpp:12",
    kind: "line",
    name: null,
    inclusive: false,
    location: "/src/two-threads.cpp:12",
    label: "two-threads.cpp:12",
    uri: "file:///src/two-threads.cpp",
    line: 11,
    state: "exact",
    shape: "gain1",
    slope: 0.114,
    slopeLow: 0.08,
    slopeHigh: 0.14,
    inCall: null,
    largest: null,
    contention: false,
    experiments: 212,
    text: "+4.4\u00a0% if 2× faster",
    cautions: [],
    ...over,
  };
}

export function speedup(over: Partial<LineSpeedup> = {}): LineSpeedup {
  return {
    line: 11,
    recordedLine: 12,
    kind: "line",
    name: null,
    inclusive: false,
    location: "/src/two-threads.cpp:12",
    state: "exact",
    shape: "gain1",
    text: "+4.4\u00a0% if 2× faster",
    rank: 1,
    slope: 0.1,
    slopeLow: null,
    slopeHigh: null,
    inCall: null,
    largest: null,
    contention: false,
    points: [],
    ...over,
  };
}

export function ranking(over: Partial<Ranking> = {}): Ranking {
  return {
    progressPoint: "iter",
    progressPoints: [{ name: "iter", kind: "throughput" }],
    rows: [row()],
    notes: [],
    ...over,
  };
}

export function summary(over: Partial<ProfileSummary> = {}): ProfileSummary {
  return {
    path: "/w/.fulcrum/runs/20261121T131500Z-two-threads",
    title: "two-threads",
    kind: "causal",
    progressPoints: [{ name: "iter", kind: "throughput" }],
    targets: 2,
    files: [],
    live: false,
    notes: [],
    ...over,
  };
}

/** A progress report of a run. */
export function live(over: Partial<LiveParams> = {}): LiveParams {
  return {
    token: "t",
    run: "/w/.fulcrum/runs/20261121T131500Z-two-threads",
    elapsedSeconds: 9,
    experiments: 23,
    targets: 2,
    visits: 400,
    best: { label: "two-threads.cpp:12", gain: 0.11, gainLow: 0.08, gainHigh: 0.14 },
    fraction: null,
    remainingSeconds: null,
    paused: false,
    aim: { target: "line", paths: [], sourceScope: [], binaryScope: [] },
    message: "23 experiments",
    ...over,
  };
}

export function runState(over: Partial<RunState> = {}): RunState {
  return { program: "/p", message: "23 experiments", live: live(), ...over };
}

/** A recorded run; its folder is named after it. */
export function runEntry(name: string, over: Partial<RunEntry> = {}): RunEntry {
  return {
    path: `/w/.fulcrum/runs/${name}`,
    folder: "20261121T131500Z-app",
    arguments: [],
    name: name.replace(/^\d{8}T\d{6}Z-/, ""),
    kind: "causal",
    start: "2026-11-21T13:15:00Z",
    end: "2026-11-21T13:15:37Z",
    program: "build/two-threads",
    command: "build/two-threads",
    ended: "exited",
    exitCode: 0,
    signal: null,
    options: {},
    gitRevision: null,
    bytes: 56_200,
    notes: [],
    iteration: null,
    ...over,
  };
}
