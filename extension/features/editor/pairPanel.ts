/** Panels that compare two runs: opened for a pair, swapped, loaded again, and restored after a reload. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import { isSamePair, keptPair, type Pair, swapped } from "../../core/runs/pair";
import { type OpenPanel, PagePanel, PagePanels, type PanelContext } from "./pagePanel";
import type { PageFile } from "./webviewAssets";

/** Every page of a pair can say why there is nothing to compare. */
interface Trouble {
  type: "trouble";
  text: string;
}

/** One comparison. */
export abstract class PairPanel<To, From extends { type: string }> extends PagePanel<To | Trouble, From> {
  /** Cancelled when what is being loaded is no longer wanted. */
  private loading = new vscode.CancellationTokenSource();

  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    file: PageFile,
    protected pair: Pair,
  ) {
    super(context, panel, file);
  }

  override dispose(): void {
    super.dispose();
    this.loading.cancel();
  }

  shows(pair: Pair): boolean {
    return isSamePair(this.pair, pair);
  }

  /** Compares, in place of what is being loaded. */
  async load(): Promise<void> {
    this.loading.cancel();
    this.loading = new vscode.CancellationTokenSource();
    const { token } = this.loading;
    const { pair } = this;
    this.panel.title = this.titleOf(pair);
    this.page.remember(pair);
    try {
      await this.compare(pair, token);
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      const text = troubleText(troubleOf(error));
      this.engine.log.error(`Comparing ${pair.after} with ${pair.before}: ${text}`);
      this.forget();
      this.page.show({ type: "trouble", text });
    }
  }

  protected async swap(): Promise<void> {
    this.pair = swapped(this.pair);
    await this.load();
  }

  /** Of what is being loaded now. */
  protected get token(): vscode.CancellationToken {
    return this.loading.token;
  }

  protected abstract titleOf(pair: Pair): string;

  /** Asks the engine, and shows its answer unless the token was cancelled meanwhile. */
  protected abstract compare(pair: Pair, token: vscode.CancellationToken): Promise<void>;

  /** The comparison failed: nothing of an earlier one is valid. */
  protected forget(): void {}
}

interface Comparing extends OpenPanel {
  load(): Promise<void>;
  shows(pair: Pair): boolean;
}

/** The open comparisons of a kind. */
export class PairPanels<Panel extends Comparing> extends PagePanels<Panel, Pair> {
  constructor(
    viewType: string,
    private readonly title: string,
    private readonly make: (panel: vscode.WebviewPanel, pair: Pair) => Panel,
  ) {
    super(viewType, { read: keptPair, restore: (panel, pair) => this.add(make(panel, pair)).load() });
  }

  /** Opens a panel of its own for the pair. */
  async open(pair: Pair): Promise<void> {
    await this.add(this.make(this.create(this.title), pair)).load();
  }

  /** Goes to the panel that shows the pair, if any, and loads it again; else opens one. */
  async openOnce(pair: Pair): Promise<void> {
    const open = this.find((panel) => panel.shows(pair));
    open?.panel.reveal();
    await (open?.load() ?? this.open(pair));
  }
}
