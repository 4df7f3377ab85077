/** What the Navigator asks about its open profile without changing it: rows, and the automatic search. */
import { troubleOf, troubleText } from "../../core/engine/errors";
import { type NavigatorAutomatic, type NavigatorRow, type NavigatorStep, requests } from "../../core/engine/protocol";
import type { OpenProfile } from "../../core/navigator/navigationState";
import type { Engine } from "../editor/engine";
import { shownRequest } from "../editor/longRequest";
import * as messages from "../editor/messages";

/** LSP's error code for content that was modified. */
const contentModified = -32801;

/** Rows of one list of a view. */
export interface RowRange {
  revision: number;
  step: NavigatorStep;
  from: number;
  count: number;
}

/** Rows of the view of a revision; `undefined` when it is no longer the current one. */
export async function fetchRows(
  engine: Engine,
  open: OpenProfile | undefined,
  range: RowRange,
): Promise<readonly NavigatorRow[] | undefined> {
  if (open === undefined || open.view.revision !== range.revision) {
    return undefined;
  }
  try {
    return (await engine.request(requests.NavigatorGetRows, { id: open.opened.id, ...range })).rows;
  } catch (error) {
    if ((error as { code?: unknown }).code !== contentModified) {
      engine.log.warn(`Rows of the Navigator could not be fetched: ${troubleText(troubleOf(error))}`);
    }
    return undefined;
  }
}

/**
 * The automatic search. A quick one shows nothing; a longer one shows its progress and can be cancelled. `undefined` when it
 * was cancelled or failed, which a message says.
 */
export async function searchBottlenecks(engine: Engine, open: OpenProfile): Promise<NavigatorAutomatic | undefined> {
  try {
    const params = { id: open.opened.id, count: null, coverage: null };
    return await shownRequest(engine, requests.NavigatorSearch, params, {
      title: "Finding bottlenecks",
      onCancel: "drop",
      after: 500,
    });
  } catch (error) {
    void messages.showTrouble(engine.log, "Finding bottlenecks", error);
    return undefined;
  }
}
