/** Opens types of transactions in the Navigator: alone, or compared with another type or with another run. */
import * as vscode from "vscode";
import { requests, type TransactionsOpened, type TransactionsTypeOf } from "../../core/engine/protocol";
import type { DerivedProfile } from "../../core/navigator/navigationState";
import { costText, shareText } from "../../core/text/cost";
import { baseName } from "../../core/text/format";
import type { Engine } from "../editor/engine";
import * as messages from "../editor/messages";
import { openLocation } from "../navigator/frames";
import type { Navigation } from "../navigator/navigation";
import type { RunStore } from "../runs/runStore";

export class TransactionTypes {
  constructor(
    private readonly engine: Engine,
    private readonly navigation: Navigation,
    private readonly store: RunStore,
  ) {}

  /** Opens a type's call tree. True when it is open; a message says why not. */
  async open(of: TransactionsTypeOf, against?: TransactionsTypeOf): Promise<boolean> {
    const derived: DerivedProfile = {
      title: titleOf(of, against),
      spread: against !== undefined,
      open: (long) => this.engine.long(requests.TransactionsOpenTree, { of, against: against ?? null }, long),
    };
    await vscode.commands.executeCommand("fulcrum.navigator.focus");
    return this.navigation.openSource({ files: [], against: [], derived });
  }

  /** Opens a type's flame graph. */
  async flame(of: TransactionsTypeOf): Promise<void> {
    if (await this.open(of)) {
      await vscode.commands.executeCommand("fulcrum.navigator.flameGraph");
    }
  }

  /** Asks what to compare a type of an open run with, and compares. */
  async compare(of: TransactionsTypeOf, opened: TransactionsOpened): Promise<void> {
    const against = await this.chooseBase(of, opened);
    if (against !== undefined) {
      await this.open(of, against);
    }
  }

  /** Opens the source of a function of a run. */
  async frame(run: string, name: string): Promise<void> {
    try {
      await openLocation(name, await this.engine.request(requests.TransactionsGetFrame, { run, name }));
    } catch (error) {
      await messages.showTrouble(this.engine.log, `Looking for ${name}`, error);
    }
  }

  private async chooseBase(
    of: TransactionsTypeOf,
    opened: TransactionsOpened,
  ): Promise<TransactionsTypeOf | undefined> {
    interface Base extends vscode.QuickPickItem {
      base?: TransactionsTypeOf;
    }
    const types: Base[] = opened.shown.types
      .filter((type) => type.name !== of.type)
      .map((type) => ({
        label: type.name,
        description: `${shareText(type.cpuShare)} of CPU time, ${costText(type.cpuNs, "ns")}`,
        base: { run: of.run, type: type.name },
      }));
    const runs: Base[] = (await this.store.list())
      .filter((run) => run.kind === "transactions" && run.path !== of.run)
      .sort((a, b) => Date.parse(b.start) - Date.parse(a.start))
      .map((run) => ({
        label: `${of.type} in ${run.name}`,
        description: new Date(run.start).toLocaleString(),
        base: { run: run.path, type: of.type },
      }));
    const kind = vscode.QuickPickItemKind.Separator;
    const items: Base[] = [
      ...(types.length === 0 ? [] : [{ label: "Other types of this run", kind }, ...types]),
      ...(runs.length === 0 ? [] : [{ label: "The same type in another run", kind }, ...runs]),
    ];
    if (items.length === 0) {
      await messages.info(
        "There is nothing to compare it with: this run has no other type, and there is no other run.",
      );
      return undefined;
    }
    const choice = await vscode.window.showQuickPick(items, {
      title: `Compare ${of.type} (A) With (B)`,
      placeHolder: "Costs are those of one transaction, A minus B",
      matchOnDescription: true,
    });
    return choice?.base;
  }
}

/** `GET /miss`, `GET /miss − GET /hit`, `GET /miss (20261125T190000Z-shop) − GET /miss (20261124T180000Z-shop)`. */
function titleOf(of: TransactionsTypeOf, against: TransactionsTypeOf | undefined): string {
  if (against === undefined) {
    return of.type;
  }
  const side = ({ run, type }: TransactionsTypeOf) => (of.run === against.run ? type : `${type} (${baseName(run)})`);
  return `${side(of)} − ${side(against)}`;
}
