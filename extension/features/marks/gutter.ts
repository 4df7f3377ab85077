/** Causal results beside the code: payoffs as shapes, as texts, and in the overview ruler. */
import type * as vscode from "vscode";
import { bestLines, bestOfEachLine, type InlineMode, inlineTexts, rulerMarks } from "../../core/causal/inline";
import { shapeDataUri, type Tone } from "../../core/causal/shapes";
import { type LineShape, type LineSpeedup, requests } from "../../core/engine/protocol";
import type { CausalResults } from "../causal/causalResults";
import type { Engine } from "../editor/engine";
import type { GutterChoice } from "./gutterChoice";
import { LineMarks } from "./lineMarks";
import type { Looks } from "./markTypes";

type CausalTone = Tone | "stale";

const looks: Looks<LineShape, CausalTone> = {
  icon: shapeDataUri,
  textColours: {
    gain: "fulcrum.gainForeground",
    flat: "fulcrum.flatForeground",
    unknown: "fulcrum.flatForeground",
    harm: "fulcrum.harmForeground",
    stale: "fulcrum.staleForeground",
  },
  rulerColours: { gain: "fulcrum.overviewRulerGain", harm: "fulcrum.overviewRulerHarm" },
};

export class Gutter extends LineMarks<LineSpeedup, LineSpeedup, LineShape, CausalTone> {
  constructor(
    engine: Engine,
    private readonly results: CausalResults,
    private readonly choice: GutterChoice,
  ) {
    super(
      engine,
      "causal",
      looks,
      results.onDidChangeResults(() => void this.refresh()),
      choice.onDidChange(() => void this.refresh()),
    );
  }

  protected override question() {
    if (this.results.summary === null || this.choice.source !== "causal") {
      return undefined;
    }
    const progressPoint = this.results.progressPoint;
    return async (uri: vscode.Uri) =>
      (await this.engine.request(requests.LineSpeedups, { uri: uri.toString(), progressPoint })).lines;
  }

  protected override digest(lines: readonly LineSpeedup[]) {
    const shapes = bestOfEachLine(lines);
    return { shapes, best: shapes.filter(({ rank }) => rank <= bestLines), ruler: rulerMarks(lines) };
  }

  protected override shape({ shape, state }: LineSpeedup) {
    return { kind: shape, stale: state === "stale" };
  }

  protected override texts(lines: readonly LineSpeedup[], cursors: readonly number[], inline: InlineMode) {
    return inlineTexts(lines, cursors, inline);
  }
}
