/** The flame graph in an editor panel: the whole tree, or a path merged over all its contexts. */
import * as vscode from "vscode";
import { troubleOf, troubleText } from "../../core/engine/errors";
import {
  type NavigatorFlame,
  type NavigatorFlameParams,
  type NavigatorFlameWidth,
  type NavigatorView,
  requests,
} from "../../core/engine/protocol";
import { type FlameArrays, joined } from "../../core/flame/boxes";
import { foundText } from "../../core/flame/describe";
import type { FlameShown, FromFlame, Need, Section, ToFlame } from "../../core/flame/messages";
import { crumbText } from "../../core/navigator/model";
import { PageLink } from "../../core/page";
import { shortTitle } from "../../core/profiles/titles";
import { pathText } from "../../core/text/cost";
import { flameHtml } from "../../views/flame";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { pageAssets, pageOptions } from "../editor/webviewAssets";
import { openFrame } from "./frames";
import type { Navigation, ProfileSource } from "./navigation";

const viewType = "fulcrum.flameGraph";
/** What the editor keeps of the panel when the window is left. */
interface Kept {
  path: string[] | null;
  width: NavigatorFlameWidth;
}

/** Rows that the engine sends at most. */
const mostRows = 1000;
const noPaths = "A call graph has no paths to draw: there is no flame graph of it.";

export class FlameGraphPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private page: PageLink<ToFlame, FromFlame> | undefined;
  /** What `path` is a path of, and the number of such profiles so far. */
  private source: ProfileSource | undefined;
  private sources = 0;
  private path: string[] | null = null;
  private width: NavigatorFlameWidth = "a";
  private generation = 0;
  private seen = "";
  private restoring = false;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly extensionUri: vscode.Uri,
  ) {
    this.subscriptions = [
      navigation.onDidChange(() => this.follow()),
      vscode.window.registerWebviewPanelSerializer(viewType, {
        deserializeWebviewPanel: (panel, kept: Kept | undefined) => this.restore(panel, kept),
      }),
      vscode.commands.registerCommand("fulcrum.navigator.flameGraph", () => this.show(null)),
      vscode.commands.registerCommand("fulcrum.navigator.flamePath", () => this.show(this.currentPath())),
    ];
  }

  dispose(): void {
    this.panel?.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  private currentPath(): string[] | null {
    return this.navigation.open?.view.current?.frames.map((frame) => frame.name) ?? null;
  }

  private async show(path: string[] | null): Promise<void> {
    const open = this.navigation.open;
    if (open === undefined) {
      await vscode.commands.executeCommand("fulcrum.profile.open");
      return;
    }
    if (open.opened.kind === "graph") {
      messages.tell(noPaths);
      return;
    }
    this.turnTo(open.source);
    this.path = path;
    if (this.panel === undefined) {
      const panel = vscode.window.createWebviewPanel(viewType, "Flame Graph", vscode.ViewColumn.Active, {
        retainContextWhenHidden: true,
      });
      this.adopt(panel);
      this.page?.post({ type: "focus" });
    } else {
      this.panel.reveal();
      this.refresh();
      this.page?.post({ type: "focus" });
    }
  }

  /** The panel of before the window was reloaded. It shows what it showed once the Navigator has its profile again. */
  private async restore(panel: vscode.WebviewPanel, kept: Kept | undefined): Promise<void> {
    this.panel?.dispose();
    this.restoring = true;
    this.adopt(panel);
    const restored = await this.navigation.restore();
    this.restoring = false;
    const open = this.navigation.open;
    if (restored && open !== undefined && kept !== undefined) {
      this.turnTo(open.source);
      this.path = kept.path;
      this.width = kept.width;
    }
    this.refresh();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    panel.webview.options = pageOptions(this.extensionUri);
    const page = new PageLink<ToFlame, FromFlame>(
      panel.webview,
      (message) => this.receive(message),
      (type, error) => void messages.showTrouble(this.engine.log, `The flame graph (${type})`, error),
    );
    [this.panel, this.page] = [panel, page];
    panel.iconPath = vscode.Uri.joinPath(this.extensionUri, "media", "icon.svg");
    panel.onDidDispose(() => {
      page.dispose();
      [this.panel, this.page] = [undefined, undefined];
    });
    panel.webview.html = flameHtml(pageAssets(panel.webview, this.extensionUri, "flame"));
    this.refresh();
  }

  /** Another profile, value or label changes the picture; a step of the search only what *This path* would show. */
  private follow(): void {
    if (this.panel === undefined) {
      return;
    }
    const { state } = this.navigation;
    if (state.kind === "opening") {
      // When that is cancelled, the picture goes on.
      if (this.seen === "") {
        this.refresh();
      }
      return;
    }
    if (state.kind === "open" && pictureOf(state) === this.seen) {
      this.page?.post({ type: "current", path: this.currentPath() });
    } else {
      this.refresh();
    }
  }

  /** Another profile has other paths. The engine's own numbers begin anew when it is restarted. */
  private turnTo(source: ProfileSource): void {
    if (source !== this.source) {
      this.source = source;
      this.sources += 1;
      this.path = null;
    }
  }

  private refresh(): void {
    const open = this.navigation.open;
    if (this.panel === undefined) {
      return;
    }
    if (open === undefined || open.opened.kind === "graph") {
      this.seen = "";
      this.panel.title = "Flame Graph";
      this.page?.show({ type: "nothing", text: open === undefined ? this.absence() : noPaths });
      return;
    }
    this.turnTo(open.source);
    const { opened, view } = open;
    const path = this.currentPath();
    this.seen = pictureOf(open);
    this.generation += 1;
    const shown: FlameShown = {
      generation: this.generation,
      layout: JSON.stringify([this.sources, view.value, this.path, this.width]),
      title: this.path === null ? opened.title : crumbText(this.path),
      path: this.path,
      currentPath: path,
      comparison: opened.kind === "comparison",
      width: this.width,
      unit: view.unit,
      labels: view.labels.map((label) => label.name),
    };
    this.panel.title = `Flame Graph: ${shortTitle(shown.title, 50)}`;
    this.page?.show({ type: "show", shown });
    this.page?.remember({ path: this.path, width: this.width } satisfies Kept);
  }

  /** Why there is no profile to draw. */
  private absence(): string {
    const { state } = this.navigation;
    if (state.kind === "opening") {
      return `${state.title} is being opened.`;
    }
    if (state.kind === "trouble") {
      return `${state.title} could not be opened: ${state.text}`;
    }
    return this.restoring
      ? "The profile is being opened again."
      : "The profile was closed. The next one that is opened is drawn here.";
  }

  private async receive(message: Exclude<FromFlame, { type: "ready" }>): Promise<void> {
    if (this.navigation.open === undefined && message.type !== "need") {
      this.page?.post({ type: "trouble", text: this.absence() });
      return;
    }
    switch (message.type) {
      case "need":
        await this.fetch(message.generation, message.need);
        break;
      case "search":
        await this.search(message.generation, message.text);
        break;
      case "source":
        await openFrame(this.engine, this.navigation, message.name);
        break;
      case "select":
        if (message.path.length > 0 && (await this.navigation.do({ kind: "selectPath", path: message.path }))) {
          await vscode.commands.executeCommand("fulcrum.navigator.focus");
        }
        break;
      case "merge":
        if (message.path.length > 0) {
          this.path = message.path;
          this.refresh();
        }
        break;
      case "tree":
        this.path = null;
        this.refresh();
        break;
      case "width":
        this.width = message.width;
        this.refresh();
        break;
    }
  }

  /** Every need is answered: the page asks for each once, and again only for what failed. */
  private async fetch(generation: number, need: Need): Promise<void> {
    const open = this.navigation.open;
    if (open === undefined || generation !== this.generation) {
      this.page?.post({ type: "failed", generation, need });
      return;
    }
    const { section, range, minimum, depths } = need;
    const labels = open.view.labels.map((label) => label.name);
    const asked = { id: open.opened.id, what: this.what(section), width: this.width, ...range, minimum };
    const rows = (fromDepth: number) =>
      this.engine.request(requests.NavigatorGetFlame, { ...asked, fromDepth, depths: depths - fromDepth });
    try {
      const first = await rows(0);
      const { levels, total } = first;
      const pieces = [arraysOf(first, labels)];
      for (let from = mostRows; from < Math.min(depths, levels); from += mostRows) {
        pieces.push(arraysOf(await rows(from), labels));
      }
      this.page?.post({
        type: "tile",
        generation,
        tile: { ...need, arrays: joined(pieces), levels, total },
      });
    } catch (error) {
      this.page?.post({ type: "failed", generation, need });
      if (generation === this.generation) {
        this.trouble("Drawing the flame graph", error);
      }
    }
  }

  private what(section: Section): NavigatorFlameParams["what"] {
    return section === "tree"
      ? { kind: "tree", root: null }
      : { kind: "merged", path: this.path ?? [], side: section, along: [] };
  }

  private async search(generation: number, text: string): Promise<void> {
    const open = this.navigation.open;
    if (open === undefined || generation !== this.generation) {
      return;
    }
    try {
      const found = await this.engine.request(requests.NavigatorFlameSearch, {
        id: open.opened.id,
        text,
        root: null,
      });
      const where = this.path === null || found.count === 0 ? "" : " of the whole profile";
      const summary = `${foundText(found, open.view)}${where}`;
      this.page?.post({ type: "found", generation, text, summary });
    } catch (error) {
      this.trouble(`Searching for ${text}`, error);
    }
  }

  private trouble(doing: string, error: unknown): void {
    const trouble = troubleOf(error);
    const text = troubleText(trouble);
    this.engine.log.warn(`${doing}${this.path === null ? "" : ` of ${pathText(this.path)}`}: ${text}`);
    if (!trouble.cancelled) {
      this.page?.post({ type: "trouble", text });
    }
  }
}

/** All that the picture depends on, as one text. */
function pictureOf({ opened, view }: { opened: { id: number }; view: NavigatorView }): string {
  return JSON.stringify([opened.id, view.value, view.labels.map((label) => [label.name, label.paths])]);
}

/** With labels as the Navigator counts them, so that they have the same colours in both. */
function arraysOf(flame: NavigatorFlame, labels: readonly string[]): FlameArrays {
  const position = flame.labels.map((label) => labels.indexOf(label));
  const { depth, x, width, name, cost, own, against, names, containers } = flame;
  const label = flame.label.map((it) => position[it] ?? -1);
  return { depth, x, width, name, cost, own, against, names, containers, label };
}
