/** Two runs of transactions compared: their types side by side. */
import { render, type VNode } from "preact";
import { brief } from "../../core/transactions/brief";
import type {
  ComparedCell,
  ComparedRow,
  ComparedTypes,
  FromTransactionsCompare,
  ToTransactionsCompare,
} from "../../core/transactions/compare";
import { byId, connect } from "../dom";
import { Button, Head, Link } from "../ui";

const vscode = connect<FromTransactionsCompare, ToTransactionsCompare>((message) =>
  render(<Page message={message} />, byId("page")),
);
const send = (message: FromTransactionsCompare) => vscode.postMessage(message);

const columns = [
  { text: "Type", title: "The request, or the path that its transactions took", kind: "text" },
  { text: "Count A / B", title: "Transactions that threads worked for under its name" },
  { text: "CPU of one, A", title: "Mean CPU time of a transaction in A" },
  { text: "B", title: "Mean CPU time of a transaction in B" },
  { text: "Δ CPU", title: "CPU time in A less that in B, each transaction being an observation" },
  { text: "Wall of one, A", title: "Mean wall time in A of those that began under its name" },
  { text: "B", title: "Mean wall time in B of those that began under its name" },
  { text: "Δ wall", title: "Wall time in A less that in B, each transaction being an observation" },
] as const;

function Page({ message }: { message: ToTransactionsCompare }): VNode {
  switch (message.type) {
    case "loading":
      return (
        <>
          <h1>{`${message.a} − ${message.b}`}</h1>
          <p class="quiet" role="status">
            {message.message}
          </p>
        </>
      );
    case "trouble":
      return (
        <>
          <p class="trouble" role="alert">
            {message.text}
          </p>
          <Button id="again" onClick={() => send({ type: "again" })}>
            Try Again
          </Button>
        </>
      );
    case "show":
      return <Compared compared={message.compared} />;
  }
}

function Compared({ compared }: { compared: ComparedTypes }): VNode {
  return (
    <>
      <h1>Two runs of transactions compared</h1>
      <div class="quiet">
        A: <Run name={compared.a} side="a" />, the run to examine
      </div>
      <div class="quiet">
        B: <Run name={compared.b} side="b" />, the base
      </div>
      <div class="line">
        <span role="status" id="summary">
          {compared.summary}
        </span>
        <Button id="swap" onClick={() => send({ type: "swap" })}>
          Swap
        </Button>
      </div>
      <table id="compared" aria-label="Types in both runs">
        <Head columns={columns} />
        <tbody>
          {compared.rows.map((row) => (
            <Row key={row.name} row={row} />
          ))}
        </tbody>
      </table>
      {compared.notes.length > 0 && (
        <>
          <h2>Notes</h2>
          <ul class="notes">
            {compared.notes.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Run({ name, side }: { name: string; side: "a" | "b" }): VNode {
  return (
    <Link title="Open this run" onClick={() => send({ type: "run", side })}>
      {name}
    </Link>
  );
}

function Row({ row }: { row: ComparedRow }): VNode {
  return (
    <tr aria-label={row.spoken} data-type={row.name}>
      <td class="text name">
        <Link
          title={row.in === "both" ? "Compare in the Navigator" : "Search in the Navigator"}
          onClick={() => send({ type: "compare", of: row.name, in: row.in })}
        >
          {brief(row.name)}
        </Link>
      </td>
      <td>{`${row.countA} / ${row.countB}`}</td>
      <td>{row.cpuA}</td>
      <td>{row.cpuB}</td>
      <Difference cell={row.cpu} />
      <td>{row.wallA}</td>
      <td>{row.wallB}</td>
      <Difference cell={row.wall} />
    </tr>
  );
}

/** A difference that may be noise is said to be, not only greyed. */
function Difference({ cell: { text, verdict, title } }: { cell: ComparedCell }): VNode {
  return (
    <td class={verdict ?? undefined} title={title}>
      {text}
      {verdict === "noise" && <span class="small"> noise</span>}
    </td>
  );
}

send({ type: "ready" });
