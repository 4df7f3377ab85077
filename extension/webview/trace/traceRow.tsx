/** A row of a trace's tree, and the names of its columns. */
import type { VNode } from "preact";
import { cellsOf, spokenOf, type TraceRow, titleOf } from "../../core/trace/rows";

export const rowHeight = 22;
/** Deeper rows are no longer moved to the right, or nothing of them would be seen. */
const deepestIndent = 24;

/** Columns that not every trace has. */
export interface Optional {
  cpu: boolean;
  queue: boolean;
}

export function Headings({ has }: { has: Optional }): VNode {
  return (
    <>
      <span class="name">Event</span>
      <span class="cell start">Start</span>
      <span class="cell">Wall</span>
      {has.cpu && <span class="cell">CPU</span>}
      <span class="cell">Self</span>
      {has.queue && <span class="cell queueing">Queueing</span>}
    </>
  );
}

interface RowProps {
  /** Its place among all rows. */
  at: number;
  /** From 0. */
  depth: number;
  /** Its place among its siblings, and how many those are. */
  index: number;
  siblings: number;
  open: boolean;
  active: boolean;
  /** `undefined` until it has come. */
  row: TraceRow | undefined;
  has: Optional;
}

export function Row({ at, depth, index, siblings, open, active, row, has }: RowProps): VNode {
  const kind = row === undefined ? "pending" : row.kind === "thread" ? "thread" : row.event.kind;
  return (
    <div
      id={`row-${at}`}
      class={`row ${kind}${active ? " active" : ""}`}
      title={row && titleOf(row)}
      style={{ top: `${at * rowHeight}px`, "--depth": String(Math.min(depth, deepestIndent)) }}
      role="row"
      aria-label={row && spokenOf(row)}
      aria-level={depth + 1}
      aria-rowindex={at + 1}
      aria-posinset={index + 1}
      aria-setsize={siblings}
      aria-selected={active}
      aria-expanded={row !== undefined && row.children > 0 ? open : undefined}
      data-at={at}
    >
      {row === undefined ? "…" : <Cells row={row} open={open} has={has} />}
    </div>
  );
}

function Cells({ row, open, has }: { row: TraceRow; open: boolean; has: Optional }): VNode {
  const cells = cellsOf(row);
  return (
    <>
      <span class="twistie" aria-hidden="true">
        {row.children === 0 ? "" : open ? "⌄" : "›"}
      </span>
      <span class="name" role="gridcell">
        {row.kind === "event" && cells.tag !== null && <span class="tag">{cells.tag}</span>}
        <bdi>{cells.name}</bdi>
        {cells.values !== "" && <bdi class="values">{cells.values}</bdi>}
        {row.kind === "thread" && <span class="quiet">{cells.tag ?? ""}</span>}
      </span>
      <Cell kind="cell start" text={cells.start} />
      <Cell kind="cell" text={cells.wall} />
      {has.cpu && <Cell kind="cell" text={cells.cpu} />}
      <Cell kind="cell" text={cells.self} />
      {has.queue && <Cell kind="cell queueing" text={cells.queue} />}
    </>
  );
}

function Cell({ kind, text }: { kind: string; text: string }): VNode {
  return (
    <span class={kind} role="gridcell">
      {text}
    </span>
  );
}
