/** The table of types: sorted by any column, stages below their types, everything by keys too. */
import { Component, createRef, type VNode } from "preact";
import type { TransactionsShown, TransactionType } from "../../core/engine/protocol";
import { brief } from "../../core/transactions/brief";
import type { TypeAction } from "../../core/transactions/messages";
import { pathParts } from "../../core/transactions/paths";
import {
  firstOrder,
  nextOrder,
  type TypeColumn,
  type TypeOrder,
  type TypeRow,
  typeRows,
} from "../../core/transactions/types";
import { Button, shareOf } from "../ui";
import { FunctionPath } from "./transactionPath";

/** What can be done with the chosen type: text, its key in the table, what it does. */
const actions: readonly (readonly [TypeAction, string, string, string])[] = [
  ["search", "Search", "n", "Open its call tree in the Navigator, with hot lines beside the code"],
  ["flame", "Flame Graph", "f", "Open its call tree as a flame graph"],
  ["compare", "Compare With…", "c", "Compare what one transaction costs with another type, or with another run"],
];

const heads: readonly (readonly [TypeColumn, string, string])[] = [
  ["name", "Type", "The request, or the path that its transactions took"],
  ["cpu", "CPU", "CPU time in all processes, and its share"],
  ["count", "Count", "Transactions that began in a recorded process"],
  ["p50", "p50", "Median wall time"],
  ["p95", "p95", "Wall time that 95 % do not exceed"],
  ["p99", "p99", "Wall time that 99 % do not exceed"],
  ["waited", "Waited", "How long its transactions waited for others at locks, together"],
];

/** Rows at first. The user can ask for all. */
const atFirst = 200;

interface Props {
  shown: TransactionsShown;
  /** Shows a transaction of a type. */
  choose: (type: string) => void;
  act: (action: TypeAction, type: string) => void;
  /** Goes to a function's source. */
  go: (name: string) => void;
}

export class TypeTable extends Component<Props> {
  private readonly part = createRef<HTMLElement>();
  private order: TypeOrder = firstOrder;
  private readonly open = new Set<string>();
  private rows: TypeRow[] = [];
  private active = "";
  private chosen = "";
  private all = false;

  /** Marks a type. */
  mark(type: string): void {
    this.chosen = type;
    this.forceUpdate();
  }

  override render(): VNode {
    const { shown } = this.props;
    this.rows = typeRows(shown, this.order, this.open);
    if (!this.rows.some((row) => row.key === this.active)) {
      this.active = this.rows[0]?.key ?? "";
    }
    return (
      <section ref={this.part} id="typesPart" aria-label="Types of transactions">
        <h2>Types</h2>
        {shown.types.length === 0 ? (
          <p class="quiet">
            No transactions and no CPU samples were recorded. Send requests to the program while it is recorded, and
            record until it has answered some.
          </p>
        ) : (
          this.table(shown)
        )}
      </section>
    );
  }

  private table(shown: TransactionsShown): VNode {
    const few = this.all ? this.rows : this.rows.slice(0, atFirst);
    const all = () => {
      this.all = true;
      this.forceUpdate();
    };
    return (
      <>
        <Actions type={shown.types.find((it) => it.name === this.chosen)} act={this.props.act} go={this.props.go} />
        <table
          id="types"
          role="treegrid"
          aria-label="Types of transactions. Enter shows one on the timeline, n searches it, f draws it, c compares it."
        >
          <thead>
            <tr>
              {heads.map(([column, text, title]) => (
                <SortHead
                  key={column}
                  column={column}
                  text={text}
                  title={title}
                  order={this.order}
                  sort={() => this.sort(column)}
                />
              ))}
            </tr>
          </thead>
          <tbody onKeyDown={(event) => this.key(event)}>
            {few.map((row) => (
              <Row
                key={row.key}
                row={row}
                active={row.key === this.active}
                chosen={row.key === this.chosen}
                select={() => this.select(row)}
                unfold={() => this.unfold(row, row.open !== true)}
              />
            ))}
          </tbody>
        </table>
        {few.length < this.rows.length && (
          <Button onClick={all}>{`Show All ${this.rows.length.toLocaleString("en-US")} Rows`}</Button>
        )}
      </>
    );
  }

  private sort(column: TypeColumn): void {
    this.order = nextOrder(this.order, column);
    this.forceUpdate();
  }

  private select(row: TypeRow): void {
    this.focus(row.key);
    const type = typeOf(row);
    this.mark(type);
    this.props.choose(type);
  }

  private unfold(row: TypeRow, open: boolean): void {
    if (open) {
      this.open.add(row.key);
    } else {
      this.open.delete(row.key);
    }
    this.focus(row.key);
  }

  /** Gives a row the focus. */
  private focus(key: string): void {
    this.active = key;
    this.forceUpdate();
    this.part.current?.querySelector<HTMLElement>(`tbody tr[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  private key(event: KeyboardEvent): void {
    const at = this.rows.findIndex((row) => row.key === this.active);
    const row = this.rows[at];
    if (row === undefined) {
      return;
    }
    const last = (this.all ? this.rows.length : Math.min(this.rows.length, atFirst)) - 1;
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      this.focus(this.rows[Math.min(Math.max(to, 0), last)]?.key ?? row.key);
    } else if (event.key === "ArrowRight" && row.open !== null) {
      if (row.open) {
        this.focus(this.rows[at + 1]?.key ?? row.key);
      } else {
        this.unfold(row, true);
      }
    } else if (event.key === "ArrowLeft") {
      const parent = this.rows.slice(0, at + 1).findLast((it) => it.level === 1) ?? row;
      if (row.open === true) {
        this.unfold(row, false);
      } else {
        this.focus(parent.key);
      }
    } else if (event.key === "Enter" || event.key === " ") {
      this.select(row);
    } else if (!this.actBy(event, row)) {
      return;
    }
    event.preventDefault();
  }

  /** Does the action of a key pressed without modifiers; false when it has none. */
  private actBy(event: KeyboardEvent, row: TypeRow): boolean {
    const found = actions.find(([, , key]) => key === event.key);
    if (found === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return false;
    }
    const type = typeOf(row);
    this.mark(type);
    this.props.act(found[0], type);
    return true;
  }
}

/** The type of a row, which may be one of its stages. */
function typeOf(row: TypeRow): string {
  return row.key.split("\n")[0] ?? row.key;
}

interface ActionsProps {
  /** The chosen type. */
  type: TransactionType | undefined;
  act: (action: TypeAction, type: string) => void;
  go: (name: string) => void;
}

/** What can be done with the chosen type, and by which path its transactions came. */
function Actions({ type, act, go }: ActionsProps): VNode {
  if (type === undefined) {
    return <div id="typeActions" class="line" role="toolbar" hidden />;
  }
  return (
    <div id="typeActions" class="line" role="toolbar" aria-label={`What to do with ${type.name}`}>
      <strong class="cut" title={type.name}>
        {brief(type.name)}
      </strong>
      {actions.map(([action, text, key, title]) => (
        <Button
          key={action}
          title={`${title} ( ${key} )`}
          aria-keyshortcuts={key}
          data-action={action}
          onClick={() => act(action, type.name)}
        >
          {text}
        </Button>
      ))}
      {type.functions.length > 0 && (
        <span class="quiet path">
          {"by "}
          <FunctionPath parts={pathParts(type.context.join(" → "), type.functions)} go={go} />
        </span>
      )}
    </div>
  );
}

interface SortHeadProps {
  column: TypeColumn;
  text: string;
  title: string;
  order: TypeOrder;
  sort: () => void;
}

function SortHead({ column, text, title, order, sort }: SortHeadProps): VNode {
  const isOrder = order.column === column;
  const direction = order.descending ? "descending" : "ascending";
  const arrow = isOrder ? (order.descending ? " ▼" : " ▲") : "";
  return (
    <th class={column === "name" ? "text" : undefined} scope="col" aria-sort={isOrder ? direction : "none"}>
      <Button class="sort" title={title} data-column={column} onClick={sort}>
        {`${text}${arrow}`}
      </Button>
    </th>
  );
}

interface RowProps {
  row: TypeRow;
  active: boolean;
  chosen: boolean;
  select: () => void;
  unfold: () => void;
}

function Row({ row, active, chosen, select, unfold }: RowProps): VNode {
  const kind = row.level === 2 ? "stage" : "type";
  return (
    <tr
      class={chosen ? `${kind} chosen` : kind}
      aria-label={row.spoken}
      aria-level={row.level}
      aria-expanded={row.open ?? undefined}
      tabIndex={active ? 0 : -1}
      data-key={row.key}
      onClick={select}
    >
      <td class="text name" title={row.context}>
        <Twistie open={row.open} unfold={unfold} />
        <span>{brief(row.name)}</span>
      </td>
      <td class="cpu">
        <span class="track">
          <span class="bar" style={shareOf(row.share)} />
        </span>
        <span class="part">{row.shareText}</span>
        <span class="part">{row.cpu}</span>
      </td>
      <td>{row.count}</td>
      <td>{row.p50}</td>
      <td>{row.p95}</td>
      <td>{row.p99}</td>
      <td>{row.waited}</td>
    </tr>
  );
}

function Twistie({ open, unfold }: { open: boolean | null; unfold: () => void }): VNode {
  const press = (event: Event) => {
    event.stopPropagation();
    unfold();
  };
  return (
    <span class="twistie" aria-hidden="true" onClick={press}>
      {open === null ? "" : open ? "▾" : "▸"}
    </span>
  );
}
