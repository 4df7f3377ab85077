/** The Navigator's profile beside the code: bars in the gutter, texts at the end of lines, marks in the overview ruler. */
import * as vscode from "vscode";
import type { InlineMode } from "../../core/causal/inline";
import { type NavigatorLine, requests } from "../../core/engine/protocol";
import {
  type HotLine,
  type HotShape,
  type HotTone,
  heatDataUri,
  hotHover,
  hotShape,
  hotTexts,
  hotTone,
  hottest,
  hottestOfEachLine,
} from "../../core/profiles/hotLines";
import type { Engine } from "../editor/engine";
import type { Navigation } from "../navigator/navigation";
import type { GutterChoice } from "./gutterChoice";
import { LineMarks } from "./lineMarks";
import type { Looks } from "./markTypes";

const looks: Looks<HotShape, HotTone> = {
  icon: heatDataUri,
  textColours: { hot: "fulcrum.hotForeground", less: "fulcrum.cheaperForeground" },
  rulerColours: { hot: "fulcrum.overviewRulerHot", less: "fulcrum.overviewRulerCheaper" },
};

export class HotLines extends LineMarks<NavigatorLine, HotLine, HotShape, HotTone> {
  /** What lines depend on. A step of the search does not change it. */
  private seen = "";
  /** Logged already. */
  private said = "";

  constructor(
    engine: Engine,
    private readonly navigation: Navigation,
    private readonly choice: GutterChoice,
  ) {
    super(
      engine,
      "profile",
      looks,
      navigation.onDidChange(() => this.follow()),
      choice.onDidChange(() => void this.refresh()),
      vscode.languages.registerHoverProvider(
        { scheme: "file" },
        {
          provideHover: (document, { line }) => this.hover(document.uri, line),
        },
      ),
    );
  }

  protected override question() {
    const open = this.navigation.open;
    if (open === undefined || this.choice.source !== "profile") {
      return undefined;
    }
    const { id } = open.opened;
    return async (uri: vscode.Uri) => {
      const { lines, note } = await this.engine.request(requests.NavigatorGetLines, { id, uri: uri.toString() });
      if (note !== null && note !== this.said) {
        this.said = note;
        this.engine.log.warn(note);
      }
      return lines;
    };
  }

  private hover(uri: vscode.Uri, line: number): vscode.Hover | undefined {
    const text = hotHover(this.at(uri, line));
    if (text === undefined) {
      return undefined;
    }
    const markdown = new vscode.MarkdownString(text);
    markdown.isTrusted = { enabledCommands: ["fulcrum.navigator.selectPath"] };
    return new vscode.Hover(markdown);
  }

  protected override digest(lines: readonly NavigatorLine[]) {
    const shapes = hottestOfEachLine(lines);
    const best = hottest(shapes);
    return { shapes, best, ruler: best.map(({ line, heat }) => ({ line, tone: hotTone(heat) })) };
  }

  protected override shape({ heat, state }: HotLine) {
    return { kind: hotShape(heat, this.choice.comparison), stale: state === "stale" };
  }

  protected override texts(lines: readonly HotLine[], cursors: readonly number[], inline: InlineMode) {
    return hotTexts(lines, cursors, inline);
  }

  private follow(): void {
    const open = this.navigation.open;
    const now = open === undefined ? "" : `${open.opened.id} ${open.view.value}`;
    if (now !== this.seen) {
      this.seen = now;
      void this.refresh();
    }
  }
}
