/** The refine loop's page: the iterations' table, as it grows. */
import { render, type VNode } from "preact";
import {
  type FromRefine,
  type Hotspot,
  type RefineModel,
  type RefineRow,
  refineSays,
  type ToRefine,
} from "../../core/trace/refine";
import { byId, connect } from "../dom";
import { Button, Head, Link, Notes, ProgressBar, shareOf } from "../ui";

const vscode = connect<FromRefine, ToRefine>(({ model }) => render(<Page model={model} />, byId("page")));
const send = (message: FromRefine) => vscode.postMessage(message);

const columns = [
  { text: "Iteration", kind: "text" },
  { text: "Methods", title: "Methods with probes" },
  { text: "Classes", title: "Classes of these methods" },
  { text: "Probes fired", title: "Calls of these methods" },
  {
    text: "Metered",
    title: "Calls that were measured: a method that is known to be no hotspot switches itself off",
  },
  { text: "Time a unit", title: "Wall time of a unit of work" },
  { text: "Overhead", title: "What instrumentation adds, with a 95 % interval" },
  { text: "Hotspots", title: "Methods that the rule keeps" },
  { text: "Re-checked", title: "Excluded methods that were looked at again" },
  { text: "" },
] as const;

function Page({ model }: { model: RefineModel }): VNode {
  const { rows, hotspots } = model;
  return (
    <>
      <h1>{model.title}</h1>
      <div class="quiet">{model.command}</div>
      <State model={model} />
      {rows.length > 0 && (
        <table aria-label="Iterations">
          <Head columns={columns} />
          <tbody>
            {rows.map((row, n) => (
              <Row key={row.number} row={row} before={rows[n - 1]} />
            ))}
          </tbody>
        </table>
      )}
      {model.state === "done" && hotspots.length > 0 && <Hotspots hotspots={hotspots} />}
      <Notes notes={model.notes} />
    </>
  );
}

/** What is going on, or how it ended, and what can be done. */
function State({ model }: { model: RefineModel }): VNode {
  const says = (
    <span id="says" role="status" aria-live="polite" class={model.state === "failed" ? "trouble" : undefined}>
      {refineSays(model)}
    </span>
  );
  if (model.state === "going") {
    return (
      <div>
        <div class="line">
          <Button id="cancel" disabled={model.stopping} onClick={() => send({ type: "cancel" })}>
            Stop and keep what there is
          </Button>
          {says}
        </div>
        <ProgressBar label="Refining" fraction={model.fraction} />
      </div>
    );
  }
  return (
    <div>
      <div class="line">
        <Button id="again" class="main" onClick={() => send({ type: "again" })}>
          Refine Again
        </Button>
        {model.filter !== null && (
          <Button id="filter" onClick={() => send({ type: "filter" })}>
            Open Filter
          </Button>
        )}
      </div>
      <p>{says}</p>
    </div>
  );
}

/** An iteration. What the mouse or the focus is on stays where it is while numbers change. */
function Row({ row, before }: { row: RefineRow; before: RefineRow | undefined }): VNode {
  return (
    <tr class={row.going ? "going" : undefined}>
      <td class="text">
        {/* Several runs make an iteration: another one is another button. */}
        <Link
          key={row.run}
          id={`open-${row.number}`}
          data-run={row.run}
          title="Open this iteration's trace"
          aria-label={`Open the trace of iteration ${row.number}`}
          onClick={() => send({ type: "open", run: row.run })}
        >
          {row.going ? `${row.number}, going on` : row.number}
        </Link>
      </td>
      <td>{row.methods}</td>
      <td>{row.classes}</td>
      <td>{row.fired}</td>
      <td>
        <span class="bar" style={shareOf(row.share)} />
        {row.metered}
      </td>
      <td>{row.unit}</td>
      <td>{row.overhead}</td>
      <td>{row.hotspots}</td>
      <td>{row.rechecked}</td>
      <td class="text">
        {before !== undefined && !row.going && (
          <Link
            id={`compare-${row.number}`}
            title={`Compare with iteration ${before.number}`}
            aria-label={`Compare iteration ${row.number} with ${before.number}`}
            onClick={() => send({ type: "compare", before: before.run, after: row.run })}
          >
            compare
          </Link>
        )}
      </td>
    </tr>
  );
}

function Hotspots({ hotspots }: { hotspots: readonly Hotspot[] }): VNode {
  return (
    <>
      <h1>Hotspots</h1>
      <ul class="hotspots">
        {hotspots.map(({ method, text }) => (
          <li key={method}>
            <Link title="Go to its source" onClick={() => send({ type: "source", method })}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

send({ type: "ready" });
