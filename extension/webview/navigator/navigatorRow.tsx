/** The list below the current path: headings, rows and remarks, and the columns' names above. */
import type { VNode } from "preact";
import type { ListModel, RowModel } from "../../core/navigator/lists";
import type { NavigatorModel } from "../../core/navigator/model";
import { shareOf } from "../ui";

export const rowHeight = 22;

/** A label's mark: its colour, with its number for those who do not see colours. */
export function Dot({ index }: { index: number }): VNode {
  return (
    <span class={`dot label-${index % 8}`} aria-hidden="true">
      {index + 1}
    </span>
  );
}

export function Columns({ model }: { model: NavigatorModel }): VNode {
  const name = model.metric === "base" ? "Base" : "Cum";
  const columns = model.comparison ? [`${name} A`, "B", "Δ"] : ["Base", "Cum"];
  return (
    <>
      <span class="name" />
      {columns.map((text) => (
        <span key={text} class="cell">
          {text}
        </span>
      ))}
      {model.spread && <span class="sure" />}
    </>
  );
}

/** An entry's position. */
function topOf(at: number): Record<string, string> {
  return { top: `${at * rowHeight}px` };
}

export function Heading({ at, list }: { at: number; list: ListModel }): VNode {
  const many = list.count > 0 ? ` · ${list.count.toLocaleString("en-US")}` : "";
  return (
    <div class="heading" style={topOf(at)} role="presentation">
      {`${list.title}${many}`}
    </div>
  );
}

export function Remark({ at, text }: { at: number; text: string }): VNode {
  return (
    <div class="remark" title={text} style={topOf(at)}>
      {text}
    </div>
  );
}

interface RowProps {
  /** Its place among all entries. */
  at: number;
  /** Its place in its list. */
  index: number;
  list: ListModel;
  /** `undefined` until it has come. */
  row: RowModel | undefined;
  active: boolean;
}

export function Row({ at, index, list, row, active }: RowProps): VNode {
  const kind = row === undefined ? "row pending" : `row${active ? " active" : ""}${row.negative ? " less" : ""}`;
  return (
    <div
      id={`entry-${at}`}
      class={kind}
      title={row?.title}
      style={row === undefined ? topOf(at) : { ...topOf(at), ...shareOf(row.width) }}
      role="option"
      aria-selected={active}
      aria-posinset={index + 1}
      aria-setsize={list.count}
      data-at={at}
    >
      {row === undefined ? "…" : <Parts row={row} />}
    </div>
  );
}

/** Read aloud, the parts would be numbers that say nothing: they are for eyes. */
function Parts({ row }: { row: RowModel }): VNode {
  return (
    <>
      <span class="number" aria-hidden="true">
        {row.number < 10 ? row.number : ""}
      </span>
      <span class="name" aria-hidden="true">
        {row.labels.map((index) => (
          <Dot key={index} index={index} />
        ))}
        <bdi>{row.text}</bdi>
      </span>
      <Costs row={row} />
      <span class="unseen">{row.spoken}</span>
    </>
  );
}

function Costs({ row: { base, cum, sides, certainty } }: { row: RowModel }): VNode {
  if (sides === null) {
    return (
      <>
        <span class="cell" aria-hidden="true">
          {base}
        </span>
        <span class="cell strong" aria-hidden="true">
          {cum}
        </span>
      </>
    );
  }
  return (
    <>
      <span class="cell" aria-hidden="true">
        {sides.a}
      </span>
      <span class="cell" aria-hidden="true">
        {sides.b}
      </span>
      <span class={certainty?.significant === false ? "cell noise" : "cell strong"} aria-hidden="true">
        {sides.delta}
      </span>
      {certainty !== null && (
        <span class="sure" title={certainty.text} aria-hidden="true">
          {certainty.significant ? "●" : "○"}
        </span>
      )}
    </>
  );
}
