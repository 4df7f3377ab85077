/** Two causal profiles compared: a table for each progress point, with what was predicted and what happened drawn. */
import type { TargetedKeyboardEvent, VNode } from "preact";
import type { Axis, CompareModel, ComparePointModel, CompareRow, FromCompare, Range } from "../../core/causal/compare";
import { signedPercent } from "../../core/text/format";
import { Button, Link, Notes } from "../ui";

type Send = (message: FromCompare) => void;

const width = 240;
const height = 34;
const margin = 8;

export function Comparison({ model, send }: { model: CompareModel; send: Send }): VNode {
  return (
    <>
      <header>
        <h1>Predicted and Actual</h1>
        <dl class="runs">
          <div>
            <dt>Before</dt>
            <dd>{model.before}</dd>
          </div>
          <div>
            <dt>After</dt>
            <dd>{model.after}</dd>
          </div>
        </dl>
        <div class="actions">
          <Button onClick={() => send({ type: "swap" })}>Swap Before and After</Button>
          <Button onClick={() => send({ type: "choose" })}>Choose Other Runs…</Button>
          <Button onClick={() => send({ type: "refresh" })}>Compare Again</Button>
        </div>
      </header>
      <main>
        {model.points.map((point, n) => (
          <Point key={`${point.kind} ${point.name}`} point={point} number={n} send={send} />
        ))}
        {model.points.length === 0 && (
          <p>
            The two runs have no progress point in common, so nothing can be compared. Choose two runs of one program.
          </p>
        )}
        {model.notes.length > 0 && (
          <section aria-label="Notes">
            <Notes notes={model.notes} />
          </section>
        )}
      </main>
    </>
  );
}

interface PointProps {
  point: ComparePointModel;
  /** Its place among the points. */
  number: number;
  send: Send;
}

function Point({ point, number, send }: PointProps): VNode {
  const id = `point-${number}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {point.name} <small>{point.kind}</small>
      </h2>
      <p class="actual">{point.actual}</p>
      {point.rows.length === 0 ? (
        <p>No target was measured in both runs.</p>
      ) : (
        <Table point={point} goTo={(target) => send({ type: "goTo", point: number, target })} />
      )}
    </section>
  );
}

function Table({ point, goTo }: { point: ComparePointModel; goTo: (target: number) => void }): VNode {
  return (
    <table onKeyDown={move}>
      <caption class="unseen">
        Each target: its own cost for each visit before and after, the speedup that it really got, what the run before
        predicted for the program at that speedup, and what happened.
      </caption>
      <thead>
        <tr>
          <th scope="col">Target</th>
          <th scope="col" class="number">
            Cost a visit
          </th>
          <th scope="col" class="number">
            Speedup it got
          </th>
          <th scope="col" class="number">
            Predicted
          </th>
          <th scope="col" class="number">
            Actual
          </th>
          <th scope="col" class="picture">
            <span class="legend">
              <span class="key predicted" aria-hidden="true" />
              predicted <span class="key actual" aria-hidden="true" />
              actual
            </span>
            <AxisPicture axis={point.axis} />
          </th>
        </tr>
      </thead>
      <tbody>
        {point.rows.map((row, target) => (
          <Target key={row.location} row={row} axis={point.axis} goTo={() => goTo(target)} />
        ))}
      </tbody>
    </table>
  );
}

/** A target has two rows: its numbers, and below them what to make of it. */
function Target({ row, axis, goTo }: { row: CompareRow; axis: Axis; goTo: () => void }): VNode {
  const kind = row.changed ? undefined : "unchanged";
  // A user who selects text to copy it does not want to leave.
  const click = () => {
    if (String(window.getSelection()) === "") {
      goTo();
    }
  };
  return (
    <>
      <tr class={kind} onClick={click}>
        <th scope="row">
          <Link title={row.location}>{row.label}</Link>
          {row.remark !== "" && (
            <>
              <br />
              <small>{row.remark}</small>
            </>
          )}
        </th>
        <td class="number">{`${row.costBefore} → ${row.costAfter}`}</td>
        <td class="number">{row.speedup}</td>
        <td class="number">{row.predicted}</td>
        <td class="number">{row.actual}</td>
        <td class="picture">
          <RowPicture row={row} axis={axis} />
        </td>
      </tr>
      <tr class={kind} onClick={click}>
        <td class="verdict" colSpan={6}>
          {row.verdict}
        </td>
      </tr>
    </>
  );
}

/** Predicted above, hollow with a round mark; actual below, filled with a pointed one: distinguishable without colour. */
function RowPicture({ row, axis }: { row: CompareRow; axis: Axis }): VNode {
  const x = scale(axis);
  return (
    <svg role="img" aria-label={row.description} width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
      <g class="grid">
        {axis.ticks.map((tick) => (
          <path key={tick} class={isZero(tick) ? "zero" : undefined} d={`M${x(tick)} 0V${height}`} />
        ))}
      </g>
      {row.predictedRange !== null && <Bar range={row.predictedRange} kind="predicted" y={10} x={x} />}
      {row.actualRange !== null && <Bar range={row.actualRange} kind="actual" y={24} x={x} />}
    </svg>
  );
}

interface BarProps {
  range: Range;
  kind: "predicted" | "actual";
  y: number;
  /** From a speedup to its place. */
  x: (value: number) => number;
}

function Bar({ range, kind, y, x }: BarProps): VNode {
  const [left, right, middle] = [x(range.low), x(range.high), x(range.value)];
  return (
    <g class={kind}>
      <rect x={left} y={y - 3} width={round(Math.max(right - left, 1))} height={6} rx={2} />
      {kind === "predicted" ? <circle cx={middle} cy={y} r={4} /> : <path d={`M${middle} ${y - 5}l5 5l-5 5l-5-5z`} />}
    </g>
  );
}

function AxisPicture({ axis }: { axis: Axis }): VNode {
  const x = scale(axis);
  const last = axis.ticks.length - 1;
  const place = (tick: number, n: number) => {
    if (n === 0) {
      return { x: 0, "text-anchor": "start" } as const;
    }
    return n === last
      ? ({ x: width, "text-anchor": "end" } as const)
      : ({ x: x(tick), "text-anchor": "middle" } as const);
  };
  return (
    <svg class="axis" aria-hidden="true" width={width} height={13} viewBox={`0 0 ${width} 13`}>
      {axis.ticks.map((tick, n) => (
        <text key={tick} y={10} {...place(tick, n)}>
          {signedPercent(isZero(tick) ? 0 : tick)}
        </text>
      ))}
    </svg>
  );
}

function isZero(tick: number): boolean {
  return Math.abs(tick) < 1e-9;
}

function scale(axis: Axis): (value: number) => number {
  const span = axis.high - axis.low;
  return (value) => {
    const inside = Math.min(Math.max(value, axis.low), axis.high);
    return round(margin + ((inside - axis.low) / span) * (width - 2 * margin));
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Arrows go from target to target, also of the next table; Tab reaches each as usual, Enter is the button's own. */
function move(event: TargetedKeyboardEvent<HTMLTableElement>): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("tbody th button")];
  const now = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key];
  const button = now < 0 || next === undefined ? undefined : buttons[next];
  if (button !== undefined) {
    button.focus();
    event.preventDefault();
  }
}
