/** The Navigator's commands: one key each while its view has the focus, and all of them in the palette. */
import * as vscode from "vscode";
import { type NavigatorStep, type NavigatorView, requests } from "../../core/engine/protocol";
import { keyText, leavesNavigator, navigatorKeys } from "../../core/navigator/keys";
import { crumbText } from "../../core/navigator/model";
import type { PendingCommand } from "../../core/navigator/navigationState";
import { Owner } from "../../core/owner";
import { costText } from "../../core/text/cost";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { openFrame } from "./frames";
import type { Navigation } from "./navigation";
import { ask, registerEscape } from "./navigatorFocus";
import { fetchRows } from "./navigatorRequests";

export class NavigatorCommands extends Owner {
  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
  ) {
    super();
    const register = vscode.commands.registerCommand;
    const plain = (id: string, command: PendingCommand) => register(id, () => navigation.do(command));
    this.ownAll(
      plain("fulcrum.navigator.suggest", { kind: "suggest" }),
      plain("fulcrum.navigator.toggleSuggester", ({ suggester }) => ({
        kind: "setSuggester",
        suggester: suggester === "HighBase" ? "HighCum" : "HighBase",
      })),
      plain("fulcrum.navigator.nearby", ({ current }) => (current === null ? undefined : { kind: "show" })),
      // A key that has nothing to do does nothing: no message for one press too many.
      plain("fulcrum.navigator.trimTop", (view) => (isLong(view) ? { kind: "trim", end: "top" } : undefined)),
      plain("fulcrum.navigator.trimBottom", (view) => (isLong(view) ? { kind: "trim", end: "bottom" } : undefined)),
      plain("fulcrum.navigator.back", ({ history }) => ((history.at ?? 0) > 0 ? { kind: "back" } : undefined)),
      plain("fulcrum.navigator.forward", (view) => (hasForward(view) ? { kind: "forward" } : undefined)),
      plain("fulcrum.navigator.toggleZoom", ({ zoom }) => ({ kind: "setZoom", on: !zoom })),
      register("fulcrum.navigator.extendTop", () => this.extend("extendTop", "caller")),
      register("fulcrum.navigator.extendBottom", () => this.extend("extendBottom", "callee")),
      register("fulcrum.navigator.find", (text?: string) => this.find(text)),
      register("fulcrum.navigator.label", (name?: string) => this.label(name)),
      register("fulcrum.navigator.unlabel", () => this.unlabel()),
      register("fulcrum.navigator.goToLabel", (name?: string) => this.goToLabel(name)),
      register("fulcrum.navigator.selectPath", (path?: string[]) => this.selectPath(path)),
      register("fulcrum.navigator.cutoff", () => this.cutoff()),
      register("fulcrum.navigator.value", () => this.value()),
      register("fulcrum.navigator.openSource", () => this.openSource()),
      register("fulcrum.navigator.report", () => this.report()),
      register("fulcrum.navigator.keys", () => showKeys()),
      register("fulcrum.navigator.close", () => navigation.close()),
      registerEscape(),
    );
  }

  /** Extends the path by the most costly name at one end, which is the first row of its list. */
  private extend(step: NavigatorStep, noun: string): Promise<void> {
    return this.navigation.together(async (act) => {
      if (this.view?.current == null) {
        return;
      }
      if (this.view.listing.kind !== "nearby" && !(await act({ kind: "show" }))) {
        return;
      }
      const { open } = this.navigation;
      if (open === undefined) {
        return;
      }
      const { view } = open;
      const first = { revision: view.revision, step, from: 0, count: 1 };
      const [row] = (await fetchRows(this.engine, open, first)) ?? [];
      if (row === undefined) {
        const reason = view.current?.limit ?? `This path has no ${noun} to extend it by.`;
        messages.showStatus(reason);
        return;
      }
      await act({ kind: "select", number: row.number });
    });
  }

  private get view(): NavigatorView | undefined {
    return this.navigation.open?.view;
  }

  /** The view after all commands so far: it names the path that the user is asked about. */
  private settledView(): Promise<NavigatorView | undefined> {
    return this.navigation.together(async () => this.view);
  }

  private async find(given: string | undefined): Promise<void> {
    const text =
      given ??
      (await ask(() =>
        vscode.window.showInputBox({
          title: "Find Functions",
          prompt: "Part of a name, in upper or lower case",
        }),
      ));
    if (text !== undefined && text !== "") {
      await this.navigation.do({ kind: "find", text });
    }
  }

  private async label(given: string | undefined): Promise<void> {
    const view = await this.settledView();
    if (view?.current == null) {
      return;
    }
    const own = new Set(view.current.labels);
    const others = view.labels.map((label) => label.name).filter((name) => !own.has(name));
    const path = crumbText(view.current.frames.map((frame) => frame.name));
    const name = given ?? (await ask(() => askLabel(path, others)));
    if (name !== undefined && name.trim() !== "") {
      await this.navigation.do({ kind: "label", name: name.trim() });
    }
  }

  private async unlabel(): Promise<void> {
    const labels = (await this.settledView())?.current?.labels ?? [];
    const name =
      labels.length > 1
        ? await ask(() => vscode.window.showQuickPick(labels, { title: "Remove Which Label?" }))
        : labels[0];
    if (name !== undefined) {
      await this.navigation.do({ kind: "unlabel", name });
    }
  }

  /** Goes to a path that has a label. */
  private async goToLabel(name: string | undefined): Promise<void> {
    const labels = this.navigation.open?.view.labels ?? [];
    const items = labels
      .filter((label) => name === undefined || label.name === name)
      .flatMap((label) => label.paths.map((path) => ({ label: label.name, detail: path.join(" → "), path })));
    const choice =
      items.length === 1
        ? items[0]
        : await ask(() => vscode.window.showQuickPick(items, { title: "Go to a Labelled Path" }));
    if (choice !== undefined) {
      await this.navigation.do({ kind: "selectPath", path: choice.path });
    }
  }

  /** Goes to the path that a link or keybinding names, or else to one that the user types. */
  private async selectPath(given: string[] | undefined): Promise<void> {
    const typed =
      given ??
      (
        await ask(() =>
          vscode.window.showInputBox({
            title: "Go to Path",
            prompt: "Names from the outermost in, with ; between them: main; parse",
          }),
        )
      )?.split(";");
    const path = (typed ?? []).map((name) => name.trim()).filter((name) => name !== "");
    if (path.length > 0 && (await this.navigation.do({ kind: "selectPath", path })) && given !== undefined) {
      await vscode.commands.executeCommand("fulcrum.navigator.focus");
    }
  }

  private async cutoff(): Promise<void> {
    const cutoff = this.view?.cutoff;
    const text = await ask(() =>
      vscode.window.showInputBox({
        title: "Zoom Cutoff",
        prompt: "The share of the cost that zooming keeps, above 0; 0.95 keeps 95 %",
        value: String(cutoff ?? 0.95),
        validateInput: (typed) => (Number(typed) > 0 ? undefined : "Type a number above 0, such as 0.95"),
      }),
    );
    if (text !== undefined) {
      await this.navigation.do({ kind: "setCutoff", cutoff: Number(text) });
    }
  }

  private async value(): Promise<void> {
    const open = this.navigation.open;
    if (open === undefined) {
      return;
    }
    const { value, total, sides } = open.view;
    const items = open.opened.valueTypes.map(({ name, unit }) => ({
      label: name,
      description: name === value ? `${unit} · shown now${sides === null ? `: ${costText(total, unit)}` : ""}` : unit,
    }));
    const choice = await ask(() =>
      vscode.window.showQuickPick(items, { title: "Value Type", placeHolder: "What to search" }),
    );
    if (choice !== undefined && choice.label !== open.view.value) {
      await this.navigation.do({ kind: "value", name: choice.label });
    }
  }

  private async openSource(): Promise<void> {
    const frame = this.navigation.open?.view.current?.frames.at(-1);
    if (frame !== undefined) {
      await openFrame(this.engine, this.navigation, frame.name);
    }
  }

  /** The labels as Markdown, in an untitled document: to read, to change, to paste into a pull request. */
  private async report(): Promise<void> {
    const open = this.navigation.open;
    if (open === undefined) {
      return;
    }
    try {
      const { markdown } = await this.engine.request(requests.NavigatorGetReport, { id: open.opened.id });
      const document = await vscode.workspace.openTextDocument({ language: "markdown", content: markdown });
      await vscode.window.showTextDocument(document);
    } catch (error) {
      await messages.showTrouble(this.engine.log, "Writing the report", error);
    }
  }
}

function isLong({ current }: NavigatorView): boolean {
  return (current?.frames.length ?? 0) > 1;
}

function hasForward({ history }: NavigatorView): boolean {
  return history.at !== null && history.at + 1 < history.count;
}

/** Asks for a label: an existing one, or a new name. */
function askLabel(path: string, others: readonly string[]): Promise<string | undefined> {
  const pick = vscode.window.createQuickPick();
  pick.title = `Label ${path}`;
  pick.placeholder = others.length === 0 ? "A name for it" : "A new name, or one of these";
  const offer = () => {
    const typed = pick.value.trim();
    const fresh = typed !== "" && !others.includes(typed);
    pick.items = [
      ...(fresh ? [{ label: typed, description: "new label", alwaysShow: true }] : []),
      ...others.map((label) => ({ label })),
    ];
  };
  offer();
  // The active item is reported later than the text: Enter right after the last letter must not take the previous item.
  let seen = "";
  return new Promise((resolve) => {
    pick.onDidChangeValue(offer);
    pick.onDidChangeActive(() => {
      seen = pick.value;
    });
    pick.onDidAccept(() => {
      const active = pick.activeItems[0]?.label;
      const chosen = active !== undefined && seen === pick.value && others.includes(active);
      resolve(chosen ? active : pick.value);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

/** The chosen command may ask something itself, so the focus returns after both. */
async function showKeys(): Promise<void> {
  await ask(chooseKey, leavesNavigator);
}

async function chooseKey(): Promise<string | undefined> {
  const choice = await vscode.window.showQuickPick(
    navigatorKeys.map(({ key, what, command }) => ({ label: keyText(key), description: what, command })),
    {
      title: "Keys of the Navigator",
      placeHolder: "They work while the view has the focus. Change them in Keyboard Shortcuts.",
      matchOnDescription: true,
    },
  );
  if (choice !== undefined) {
    await vscode.commands.executeCommand(choice.command);
  }
  return choice?.command;
}
