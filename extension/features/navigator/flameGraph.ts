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
import type { ProfileSource } from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import type { Question } from "../../core/page";
import { shortTitle } from "../../core/profiles/titles";
import { pathText } from "../../core/text/cost";
import { flameHtml } from "../../views/flame";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { PagePanel, PagePanels, type PanelContext } from "../editor/pagePanel";
import { openFrame } from "./frames";
import type { Navigation } from "./navigation";

/** What the page keeps while the window is closed. */
interface Kept {
  path: string[] | null;
  width: NavigatorFlameWidth;
}

/** The most rows that the engine sends at once. */
const mostRows = 1000;
const noPaths =
  "This profile is a call graph without call paths, so no flame graph can be drawn. Record whole call stacks to get one.";

/** The panel; what it shows is up to {@link FlameGraphPanel}. */
class FlamePage extends PagePanel<ToFlame, FromFlame> {
  constructor(
    context: PanelContext,
    panel: vscode.WebviewPanel,
    private readonly receive: (message: Question<FromFlame>) => Promise<void>,
  ) {
    super(context, panel, { script: "flame", html: flameHtml });
  }

  /** Sets what the page shows from now on. */
  show(title: string, message: ToFlame): void {
    this.panel.title = title;
    this.page.show(message);
  }

  post(message: ToFlame): void {
    this.page.post(message);
  }

  remember(kept: Kept): void {
    this.page.remember(kept);
  }

  protected override answer(message: Question<FromFlame>): Promise<void> {
    return this.receive(message);
  }
}

/** The flame graph: at most one panel, which follows the Navigator. */
export class FlameGraphPanel extends Owner {
  private readonly panels: PagePanels<FlamePage, Partial<Kept>>;
  /** What `path` is a path of, and the number of such profiles so far. */
  private source: ProfileSource | undefined;
  private sources = 0;
  private path: string[] | null = null;
  private width: NavigatorFlameWidth = "a";
  private generation = 0;
  private seen = "";
  private restoring = false;

  constructor(
    readonly engine: Engine,
    private readonly navigation: Navigation,
    readonly extensionUri: vscode.Uri,
  ) {
    super();
    this.panels = new PagePanels("fulcrum.flameGraph", {
      read: (kept) => (kept ?? {}) as Partial<Kept>,
      restore: (panel, kept) => this.restore(panel, kept),
    });
    this.ownAll(
      this.panels,
      navigation.onDidChange(() => this.follow()),
      vscode.commands.registerCommand("fulcrum.navigator.flameGraph", () => this.show(null)),
      vscode.commands.registerCommand("fulcrum.navigator.flamePath", () => this.show(this.currentPath())),
    );
  }

  private get page(): FlamePage | undefined {
    return this.panels.newest;
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
      messages.showStatus(noPaths);
      return;
    }
    this.turnTo(open.source);
    this.path = path;
    if (this.page === undefined) {
      this.adopt(this.panels.create("Flame Graph"));
    } else {
      this.page.panel.reveal();
      this.refresh();
    }
    this.page?.post({ type: "focus" });
  }

  /** The panel shows what it showed before the reload, once the Navigator has its profile again. */
  private async restore(panel: vscode.WebviewPanel, { path, width }: Partial<Kept>): Promise<void> {
    this.page?.panel.dispose();
    this.restoring = true;
    this.adopt(panel);
    const restored = await this.navigation.restore();
    this.restoring = false;
    const open = this.navigation.open;
    if (restored && open !== undefined && path !== undefined && width !== undefined) {
      this.turnTo(open.source);
      this.path = path;
      this.width = width;
    }
    this.refresh();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    this.panels.add(new FlamePage(this, panel, (message) => this.receive(message)));
    this.refresh();
  }

  /** Another profile, value or label changes the picture; a step of the search only what *This path* would show. */
  private follow(): void {
    if (this.page === undefined) {
      return;
    }
    const { state } = this.navigation;
    if (state.kind === "opening") {
      // If that is cancelled, the picture is still right.
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

  /** Another profile has other paths. A restarted engine numbers its profiles from the start. */
  private turnTo(source: ProfileSource): void {
    if (source !== this.source) {
      this.source = source;
      this.sources += 1;
      this.path = null;
    }
  }

  private refresh(): void {
    const open = this.navigation.open;
    const { page } = this;
    if (page === undefined) {
      return;
    }
    if (open === undefined || open.opened.kind === "graph") {
      this.seen = "";
      page.show("Flame Graph", { type: "nothing", text: open === undefined ? this.absence() : noPaths });
      return;
    }
    this.turnTo(open.source);
    const { opened, view } = open;
    const currentPath = this.currentPath();
    this.seen = pictureOf(open);
    this.generation += 1;
    const shown: FlameShown = {
      generation: this.generation,
      layout: JSON.stringify([this.sources, view.value, this.path, this.width]),
      title: this.path === null ? opened.title : crumbText(this.path),
      path: this.path,
      currentPath,
      comparison: opened.kind === "comparison",
      width: this.width,
      unit: view.unit,
      labels: view.labels.map((label) => label.name),
    };
    page.show(`Flame Graph: ${shortTitle(shown.title, 50)}`, { type: "show", shown });
    page.remember({ path: this.path, width: this.width });
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

  private async receive(message: Question<FromFlame>): Promise<void> {
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

  /** Answers every need: the page asks for each once, and again only for what failed. */
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

/** Everything that the picture depends on, as one text. */
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
