/** The difference of two traces as a table. A is the trace after the change, B the base. */

import type { EventsChange, EventsComparison, EventsDifference, EventsPathSums } from "../engine/protocol";
import { costText, differenceText } from "../text/cost";
import { count } from "../text/format";

export interface DifferenceRow {
  change: EventsChange;
  /** The change, for the eyes: a sign and a word. */
  changeText: string;
  role: string;
  /** The call, and what it is below. */
  name: string;
  below: string;
  calls: string;
  a: string;
  b: string;
  /** Own wall time of A less that of B. */
  self: string;
  spoken: string;
  /** Where it is to be seen: in A, or in B when A has none. */
  place: { side: "a" | "b"; thread: number; node: number } | null;
}

export interface TraceComparison {
  a: string;
  b: string;
  /** `3 appeared, 1 vanished, 4 slower, 2 faster`. */
  summary: string;
  roles: string[];
  notes: string[];
  total: number;
}

export type ToTraceCompare =
  | { type: "loading"; a: string; b: string; message: string }
  | { type: "trouble"; text: string }
  | { type: "show"; comparison: TraceComparison; rows: DifferenceRow[] }
  | { type: "more"; from: number; rows: DifferenceRow[] };
export type FromTraceCompare =
  | { type: "ready" }
  | { type: "more"; from: number }
  | { type: "swap" }
  | { type: "open"; side: "a" | "b"; thread: number; node: number };

/** Rows that come a page at a time, one answer after another. */
export class Pages {
  private there = 0;
  private total = 0;
  private asked = false;

  begin(total: number): void {
    [this.there, this.total, this.asked] = [0, total, false];
  }

  get more(): boolean {
    return this.there < this.total;
  }

  get waiting(): boolean {
    return this.asked;
  }

  /** From where the next page is to be asked for; undefined while another one is on its way. */
  ask(): number | undefined {
    if (this.asked || !this.more) {
      return undefined;
    }
    this.asked = true;
    return this.there;
  }

  /** A page has come. False when it is not the next one: its rows are there already, or belong to something else. */
  take(from: number, count: number): boolean {
    if (from !== this.there) {
      return false;
    }
    this.there += count;
    this.asked = false;
    return true;
  }
}

const words: Readonly<Record<EventsChange, string>> = {
  appeared: "+ appeared",
  vanished: "− vanished",
  slower: "▲ slower",
  faster: "▼ faster",
  count: "≠ count",
  same: "= same",
};

export function differenceRow(difference: EventsDifference): DifferenceRow {
  const { change, role, path, a, b, selfWallNs } = difference;
  const name = path.at(-1) ?? role;
  const side = a === null ? "b" : "a";
  const place = a ?? b;
  const row = {
    change,
    changeText: words[change],
    role,
    name,
    below: path.slice(0, -1).join(" → "),
    calls: `${callsOf(a)} / ${callsOf(b)}`,
    a: meanOf(a),
    b: meanOf(b),
    self: differenceText(selfWallNs, "ns"),
    place: place === null ? null : ({ side, thread: place.thread, node: place.node } as const),
  };
  const spoken = `${name}: ${change}. ${callsOf(a)} calls of ${row.a} in A, ${callsOf(b)} of ${row.b} in B.`;
  return { ...row, spoken };
}

export function traceComparison(a: string, b: string, comparison: EventsComparison): TraceComparison {
  const { counts } = comparison;
  const kinds = [
    [counts.appeared, "appeared"],
    [counts.vanished, "vanished"],
    [counts.slower, "slower"],
    [counts.faster, "faster"],
    [counts.count, "another number"],
    [counts.same, "the same"],
  ] as const;
  const said = kinds.filter(([number]) => number > 0).map(([number, what]) => `${number}\u00a0${what}`);
  return {
    a,
    b,
    summary: `${count(comparison.total, "path")}: ${said.join(", ")}`,
    roles: comparison.roles.map((role) => `${role.name} (${role.a} / ${role.b})`),
    notes: comparison.notes,
    total: comparison.total,
  };
}

function callsOf(sums: EventsPathSums | null): string {
  return sums === null ? "0" : sums.count.toLocaleString("en-US");
}

/** The mean of a call. */
function meanOf(sums: EventsPathSums | null): string {
  return sums === null || sums.count === 0 ? "–" : costText(sums.wallNs / sums.count, "ns");
}
