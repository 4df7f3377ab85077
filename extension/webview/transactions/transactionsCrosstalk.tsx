/** Crosstalk as a heat map, and below it what is known about the chosen pair. */
import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import type { TransactionsCrosstalk } from "../../core/engine/protocol";
import { brief } from "../../core/transactions/brief";
import {
  type CrosstalkCell,
  type CrosstalkMatrix,
  crosstalkMatrix,
  type PairLock,
  pairLocks,
} from "../../core/transactions/crosstalk";
import type { SectionOf } from "../../core/transactions/messages";
import { Button } from "../ui";
import { FunctionPath } from "./transactionPath";

/** Call paths that are shown for a lock. */
const mostPaths = 10;

interface Props {
  crosstalk: TransactionsCrosstalk;
  /** The pair that is open first. */
  first: Pair | null;
  /** Gets each pair that is opened. */
  chosen: (pair: Pair) => void;
  /** Goes to a function's source. */
  go: (name: string) => void;
  /** Measures what a section is worth. */
  measure: (section: SectionOf) => void;
}

export type Pair = Pick<CrosstalkCell, "waiter" | "holder">;

export function Crosstalk({ crosstalk, first, chosen: tell, go, measure }: Props): VNode {
  const [chosen, setChosen] = useState(first);
  const choose = (pair: Pair): void => {
    setChosen(pair);
    tell(pair);
  };
  const matrix = crosstalkMatrix(crosstalk);
  if (matrix === null) {
    return (
      <Section>
        <p class="quiet">
          No transaction waited for another one at a lock. Under more load some may: record again with more clients.
        </p>
      </Section>
    );
  }
  const shown = matrix.cells.flat().find((cell) => cell !== null && isSame(cell, chosen)) ?? null;
  return (
    <Section>
      <p class="quiet">
        Who waited for whom at locks: rows wait, columns hold. Choose a cell for its locks and call paths.
      </p>
      <div class="scroll">
        <Matrix matrix={matrix} chosen={shown} choose={choose} />
      </div>
      <div id="pair" aria-live="polite">
        {shown !== null && (
          <>
            <h3
              title={`${shown.waiter} waits for ${shown.holder}`}
            >{`${brief(shown.waiter)} waits for ${brief(shown.holder)}`}</h3>
            {pairLocks(crosstalk, shown.waiter, shown.holder).map((lock) => (
              <Lock key={`${lock.types} ${lock.lock}`} lock={lock} go={go} measure={measure} />
            ))}
          </>
        )}
      </div>
    </Section>
  );
}

function Section({ children }: { children: ComponentChildren }): VNode {
  return (
    <section id="crosstalkPart" aria-label="Crosstalk">
      <h2>Crosstalk</h2>
      {children}
    </section>
  );
}

interface MatrixProps {
  matrix: CrosstalkMatrix;
  chosen: Pair | null;
  choose: (pair: Pair) => void;
}

/** Of all cells one is a tab stop; arrows go from it to the others. */
function Matrix({ matrix, chosen, choose }: MatrixProps): VNode {
  const [focused, focus] = useState<Pair | null>(null);
  const cells = matrix.cells.flat().filter((cell) => cell !== null);
  const stop = cells.find((cell) => isSame(cell, focused)) ?? cells[0] ?? null;
  return (
    <table id="crosstalk" aria-label="Crosstalk: rows wait, columns hold" onKeyDown={move}>
      <thead>
        <tr>
          <th class="text" scope="col">
            waits ↓ for →
          </th>
          {matrix.holders.map((holder) => (
            <th key={holder} scope="col" title={holder}>
              <span class="cut">{brief(holder)}</span>
            </th>
          ))}
          <th scope="col">all</th>
        </tr>
      </thead>
      <tbody>
        {matrix.waiters.map((waiter, row) => (
          <tr key={waiter}>
            <th class="text" scope="row" title={waiter}>
              <span class="cut">{brief(waiter)}</span>
            </th>
            {(matrix.cells[row] ?? []).map((cell, column) => (
              <td key={matrix.holders[column]}>
                {cell !== null && (
                  <Cell
                    cell={cell}
                    isChosen={isSame(cell, chosen)}
                    isStop={isSame(cell, stop)}
                    focus={focus}
                    choose={choose}
                  />
                )}
              </td>
            ))}
            <td class="total">{matrix.totals[row] ?? ""}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps {
  cell: CrosstalkCell;
  isChosen: boolean;
  isStop: boolean;
  focus: (pair: Pair) => void;
  choose: (pair: Pair) => void;
}

function Cell({ cell, isChosen, isStop, focus, choose }: CellProps): VNode {
  return (
    <button
      type="button"
      class="heat cell"
      title={cell.spoken}
      aria-pressed={isChosen}
      tabIndex={isStop ? 0 : -1}
      style={{ "--heat": String(cell.heat) }}
      onFocus={() => focus(cell)}
      onClick={(event) => {
        event.currentTarget.focus();
        choose(cell);
      }}
    >
      <strong aria-hidden="true">{cell.total}</strong>
      <span class="small" aria-hidden="true">{`${cell.mean} × ${cell.count}`}</span>
      <span class="unseen">{cell.spoken}</span>
    </button>
  );
}

interface LockProps {
  lock: PairLock;
  go: (name: string) => void;
  measure: (section: SectionOf) => void;
}

function Lock({ lock, go, measure }: LockProps): VNode {
  const of = lock.types === null ? "" : `${lock.types}: `;
  return (
    <div class="lock">
      <p>
        <strong>{`${of}${lock.lock}`}</strong>
        {` ${lock.total} in ${lock.waits}, ${lock.mean} on average`}
      </p>
      {lock.gain !== null && <p class="gain">{lock.gain}</p>}
      <Price lock={lock} measure={measure} />
      {lock.paths.length === 0 ? (
        <p class="quiet">Its call paths are not known.</p>
      ) : (
        <Paths paths={lock.paths.slice(0, mostPaths)} go={go} />
      )}
      {lock.paths.length > mostPaths && (
        <p class="quiet">{`The ${mostPaths} longest of ${lock.paths.length} pairs of call paths.`}</p>
      )}
    </div>
  );
}

/** What the section is worth, as far as that is known, and a button that measures it. */
function Price({ lock: { price, section }, measure }: Omit<LockProps, "go">): VNode {
  return (
    <>
      {price !== null && (
        <div class="price">
          <p>
            <strong>{price.sentence}</strong>
          </p>
          <ul class="notes">
            {price.notes.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </div>
      )}
      {section !== null && (
        <Button
          class="plain measure"
          title="Start the program again, let the section take half the time, and see how much faster the waiting requests would be"
          onClick={() => measure(section)}
        >
          {price === null ? "Measure What This Section Is Worth" : "Measure Again"}
        </Button>
      )}
    </>
  );
}

function Paths({ paths, go }: { paths: PairLock["paths"]; go: (name: string) => void }): VNode {
  return (
    <table aria-label="Call paths">
      <thead>
        <tr>
          <th>Waited</th>
          <th class="text">Waiter is in</th>
          <th class="text">Holder is in</th>
        </tr>
      </thead>
      <tbody>
        {paths.map((path, n) => (
          <tr key={n}>
            <td>{path.total}</td>
            <td class="text path">
              <FunctionPath parts={path.waiter} go={go} />
            </td>
            <td class="text path">
              <FunctionPath parts={path.holder} go={go} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function isSame(cell: Pair, other: Pair | null): boolean {
  return cell.waiter === other?.waiter && cell.holder === other.holder;
}

/** Arrows go to the next cell that has a wait. */
function move(event: KeyboardEvent): void {
  const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
  const here = event.target instanceof Element ? event.target.closest("td") : null;
  const rows = [...(here?.closest("tbody")?.rows ?? [])];
  if (step === undefined || here === null) {
    return;
  }
  event.preventDefault();
  let row = rows.findIndex((it) => it.contains(here));
  let column = here.cellIndex;
  for (;;) {
    row += step[0] ?? 0;
    column += step[1] ?? 0;
    const cell = rows[row]?.cells[column];
    if (cell === undefined) {
      return;
    }
    const button = cell.querySelector<HTMLElement>(".cell");
    if (button !== null) {
      button.focus();
      return;
    }
  }
}
