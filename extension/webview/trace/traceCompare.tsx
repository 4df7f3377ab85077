/** Two traces compared: what appeared, vanished, got slower or faster. */
import { render, type VNode } from "preact";
import {
  type DifferenceRow,
  type FromTraceCompare,
  Pages,
  type ToTraceCompare,
  type TraceComparison,
} from "../../core/trace/compare";
import { byId, connect } from "../dom";
import { Button, Head, Link, Notes } from "../ui";

const vscode = connect<FromTraceCompare, ToTraceCompare>(receive);
const send = (message: FromTraceCompare) => vscode.postMessage(message);

const columns = [
  { text: "Change", title: "What became of it from B to A", kind: "text" },
  { text: "Call", title: "The call, what it is below, and the threads that make it", kind: "text" },
  { text: "Calls A / B", title: "How often" },
  { text: "A a call", title: "Mean wall time of a call in A" },
  { text: "B a call", title: "Mean wall time of a call in B" },
  { text: "Δ self, all calls", title: "Own wall time of all calls in A less that in B" },
] as const;

const pages = new Pages();
let comparison: TraceComparison | undefined;
let rows: DifferenceRow[] = [];

function receive(message: ToTraceCompare): void {
  switch (message.type) {
    case "loading":
      draw(
        <>
          <h1>{`${message.a} − ${message.b}`}</h1>
          <p class="quiet" role="status">
            {message.message}
          </p>
        </>,
      );
      break;
    case "trouble":
      draw(
        <p class="trouble" role="alert">
          {message.text}
        </p>,
      );
      break;
    case "show":
      comparison = message.comparison;
      rows = [];
      pages.begin(comparison.total);
      add(0, message.rows);
      break;
    case "more":
      add(message.from, message.rows);
      break;
  }
}

function draw(page: VNode): void {
  render(page, byId("page"));
}

function add(from: number, more: readonly DifferenceRow[]): void {
  if (pages.take(from, more.length)) {
    rows.push(...more);
    drawComparison();
  }
}

function drawComparison(): void {
  if (comparison !== undefined) {
    draw(<Comparison comparison={comparison} />);
  }
}

function askForMore(): void {
  const from = pages.ask();
  drawComparison();
  if (from !== undefined) {
    send({ type: "more", from });
  }
}

function Comparison({ comparison }: { comparison: TraceComparison }): VNode {
  return (
    <>
      <h1>Two traces compared</h1>
      <div class="quiet">{`A: ${comparison.a}, the trace to examine`}</div>
      <div class="quiet">{`B: ${comparison.b}, the base`}</div>
      <div class="line">
        <span role="status" id="summary">
          {comparison.summary}
        </span>
        <Button id="swap" onClick={() => send({ type: "swap" })}>
          Swap
        </Button>
      </div>
      <div class="quiet">{`Threads by role (A / B): ${comparison.roles.join(" · ")}`}</div>
      <Notes notes={comparison.notes} />
      <table aria-label="Differences">
        <Head columns={columns} />
        <tbody>
          {rows.map((row, n) => (
            <Row key={n} row={row} />
          ))}
        </tbody>
      </table>
      {pages.more && (
        <Button id="more" disabled={pages.waiting} onClick={askForMore}>
          {pages.waiting ? "Comparing…" : "Show More"}
        </Button>
      )}
    </>
  );
}

function Row({ row }: { row: DifferenceRow }): VNode {
  const { place } = row;
  return (
    <tr class={row.change} aria-label={row.spoken}>
      <td class="text">
        <span class="change">{row.changeText}</span>
      </td>
      <td class="text wide">
        {place === null ? (
          <span>{row.name}</span>
        ) : (
          <Link title={`Show in trace ${place.side.toUpperCase()}`} onClick={() => send({ type: "open", ...place })}>
            {row.name}
          </Link>
        )}
        <div class="quiet">{[row.role, row.below].filter((text) => text !== "").join(" · ")}</div>
      </td>
      <td>{row.calls}</td>
      <td>{row.a}</td>
      <td>{row.b}</td>
      <td>{row.self}</td>
    </tr>
  );
}

send({ type: "ready" });
