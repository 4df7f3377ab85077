/**
 * The stage diagram, drawn from what flowed (Whodunit, Figures 8 to 10): processes with their threads and stages, and arrows
 * for flows. This computes the places; the page draws.
 */

import type { TransactionFlow, TransactionFlowKind, TransactionsShown, TransactionWay } from "../engine/protocol";
import { barWidth, shareText } from "../text/cost";
import { count as counted } from "../text/format";
import { labelPlace, type Point, pathOf, route } from "./curves";
import { type Edge, layers } from "./layers";

/** Boxes that are drawn. The rest is one more. */
export const mostBoxes = 40;

const boxWidth = 172;
const boxHeight = 38;
/** Between columns there is room for arrows and their counts. */
const columnGap = 88;
const rowGap = 14;
const processGap = 96;
const stackGap = 22;
const padding = 12;
const header = 26;
const margin = 10;

export interface DiagramBox {
  id: string;
  process: string;
  name: string;
  /** Of all CPU time, 0 to 1; null: it is a place through which transactions flow, whose CPU time its threads have. */
  share: number | null;
  shareText: string;
  spoken: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DiagramProcess {
  name: string;
  shareText: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface DiagramArrow {
  kind: TransactionFlowKind;
  from: string;
  to: string;
  count: string;
  /** An SVG path. */
  path: string;
  /** The middle of the count. */
  x: number;
  y: number;
  /** 1 to 4 pixels, by the logarithm of the count. */
  thickness: number;
  spoken: string;
}

export interface Diagram {
  width: number;
  height: number;
  processes: DiagramProcess[];
  boxes: DiagramBox[];
  arrows: DiagramArrow[];
}

interface Node {
  id: string;
  process: string;
  name: string;
  share: number | null;
  /** How much it matters: its share of the CPU time or of what flowed. */
  weight: number;
}

interface Link {
  kind: TransactionFlowKind;
  from: Node;
  to: Node;
  count: number;
}

/** Stands for the process of the box of all others, which no process is called. */
const rest = "\n";

/** The diagram; null when there is nothing to draw. */
export function stageDiagram(shown: TransactionsShown, ways: readonly TransactionWay[]): Diagram | null {
  const { nodes, links } = graphOf(shown);
  if (nodes.length === 0) {
    return null;
  }
  const order = orderOf(ways);
  const byProcess = groupedBy(nodes, (node) => node.process);
  const columns = layers(
    [...byProcess.keys()],
    links.map((link) => edge(link.from.process, link.to.process, link.count)),
    order.processes,
  );
  const groups = [...byProcess].map(([process, members]) => groupOf(process, members, links, order.stages));
  const size = arrange(groups, (group) =>
    group.process === rest ? largest(columns) + 1 : (columns.get(group.process) ?? 0),
  );
  const boxes = groups.flatMap((group) => group.boxes);
  const cpuOf = (process: string) =>
    shown.stages.filter((stage) => stage.process === process).reduce((sum, stage) => sum + stage.cpuShare, 0);
  return {
    ...size,
    processes: groups.map(({ process, x, y, width, height }) => ({
      name: process === rest ? "others" : process,
      shareText: process === rest ? "" : shareText(cpuOf(process)),
      ...{ x, y, width, height },
    })),
    boxes,
    arrows: arrowsOf(links, new Map(boxes.map((box) => [box.id, box]))),
  };
}

/** The boxes that matter most, what flows between them, and one box for all others. */
function graphOf(shown: TransactionsShown): { nodes: Node[]; links: Link[] } {
  const all = new Map<string, Node>();
  const node = (process: string, name: string): Node => {
    const id = `${process}\n${name}`;
    const made = all.get(id) ?? { id, process, name, share: null, weight: 0 };
    all.set(id, made);
    return made;
  };
  for (const { process, thread, cpuShare } of shown.stages) {
    const made = node(process, thread === "" ? process : thread);
    made.share = (made.share ?? 0) + cpuShare;
    made.weight += cpuShare;
  }
  const flowed = Math.max(
    shown.flows.reduce((sum, flow) => sum + flow.count, 0),
    1,
  );
  const ends = (flow: TransactionFlow) => [node(flow.fromProcess, flow.from), node(flow.toProcess, flow.to)] as const;
  for (const flow of shown.flows) {
    for (const end of ends(flow)) {
      end.weight += flow.count / flowed;
    }
  }
  const ranked = [...all.values()].sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
  const kept = new Set(ranked.length <= mostBoxes ? ranked : ranked.slice(0, mostBoxes));
  const dropped = ranked.slice(kept.size);
  const other: Node = {
    ...{ id: rest, process: rest, name: counted(dropped.length, "other stage"), weight: 0 },
    share: dropped.reduce((sum, it) => sum + (it.share ?? 0), 0),
  };
  const shownAs = (it: Node) => (kept.has(it) ? it : other);
  const links = new Map<string, Link>();
  for (const flow of shown.flows) {
    const [from, to] = ends(flow).map(shownAs) as [Node, Node];
    if (from !== other || to !== other) {
      const key = `${flow.kind} ${from.id} ${to.id}`;
      const link = links.get(key) ?? { kind: flow.kind, from, to, count: 0 };
      links.set(key, { ...link, count: link.count + flow.count });
    }
  }
  return { nodes: [...kept, ...(dropped.length === 0 ? [] : [other])], links: [...links.values()] };
}

/** The mean position of processes and stages in transactions: the first that works for one is 0. */
function orderOf(ways: readonly TransactionWay[]) {
  const processes = new Map<string, { sum: number; times: number }>();
  const stages = new Map<string, { sum: number; times: number }>();
  for (const way of ways) {
    add(processes, new Set(way.stays.map((stay) => stay.process)));
    add(stages, new Set(way.stays.map((stay) => `${stay.process}\n${stay.stage}`)));
  }
  return { processes: means(processes), stages: means(stages) };
}

function add(to: Map<string, { sum: number; times: number }>, inOrder: ReadonlySet<string>): void {
  [...inOrder].forEach((key, n) => {
    const known = to.get(key) ?? { sum: 0, times: 0 };
    to.set(key, { sum: known.sum + n, times: known.times + 1 });
  });
}

function means(of: ReadonlyMap<string, { sum: number; times: number }>): Map<string, number> {
  return new Map([...of].map(([key, { sum, times }]) => [key, sum / times]));
}

interface Group extends Omit<DiagramProcess, "name" | "shareText"> {
  process: string;
  boxes: DiagramBox[];
}

/** A process with its boxes in columns, at the origin. */
function groupOf(
  process: string,
  members: readonly Node[],
  links: readonly Link[],
  position: ReadonlyMap<string, number>,
): Group {
  const inside = links.filter((link) => link.from.process === process && link.to.process === process);
  const columns = layers(
    members.map((node) => node.id),
    inside.map((link) => edge(link.from.id, link.to.id, link.count)),
    position,
  );
  const rows = new Map<number, number>();
  const boxes = members.map((node) => {
    const column = columns.get(node.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    const x = padding + column * (boxWidth + columnGap);
    const y = header + row * (boxHeight + rowGap);
    return boxOf(node, x, y);
  });
  const deepest = Math.max(...rows.values());
  return {
    process,
    boxes,
    ...{ x: 0, y: 0, width: 2 * padding + (largest(columns) + 1) * (boxWidth + columnGap) - columnGap },
    height: header + deepest * (boxHeight + rowGap) - rowGap + padding,
  };
}

function boxOf(node: Node, x: number, y: number): DiagramBox {
  const share = node.share === null ? null : barWidth(node.share);
  const text = node.share === null ? "" : shareText(node.share);
  const where = node.process === rest ? node.name : `${node.name} in ${node.process}`;
  return {
    ...{ id: node.id, process: node.process, name: node.name, share, shareText: text },
    spoken: text === "" ? where : `${where}: ${text} of CPU time`,
    ...{ x, y, width: boxWidth, height: boxHeight },
  };
}

/** Moves groups into columns, one below the other. */
function arrange(groups: readonly Group[], columnOf: (group: Group) => number): { width: number; height: number } {
  const columns = [...groupedBy(groups, columnOf)].sort(([a], [b]) => a - b);
  let x = margin;
  let height = 0;
  for (const [, members] of columns) {
    let y = margin;
    for (const group of members) {
      move(group, x, y);
      y += group.height + stackGap;
    }
    x += Math.max(...members.map((group) => group.width)) + processGap;
    height = Math.max(height, y - stackGap + margin);
  }
  return { width: x - processGap + margin, height };
}

function move(group: Group, x: number, y: number): void {
  group.x = x;
  group.y = y;
  for (const box of group.boxes) {
    box.x += x;
    box.y += y;
  }
}

function arrowsOf(links: readonly Link[], boxes: ReadonlyMap<string, DiagramBox>): DiagramArrow[] {
  const between = new Map<string, number>();
  const all = [...boxes.values()];
  const taken: Point[] = [];
  return [...links]
    .sort((a, b) => b.count - a.count)
    .flatMap((link) => {
      const [from, to] = [boxes.get(link.from.id), boxes.get(link.to.id)];
      if (from === undefined || to === undefined) {
        return [];
      }
      const key = `${from.id} ${to.id}`;
      const nth = between.get(key) ?? 0;
      between.set(key, nth + 1);
      const count = link.count.toLocaleString("en-US");
      const points = route(from, to, nth);
      const label = labelPlace(points, all, taken);
      taken.push(label);
      return {
        ...{ kind: link.kind, from: from.id, to: to.id, count, path: pathOf(points) },
        ...label,
        thickness: Math.min(4, 1 + Math.log10(Math.max(link.count, 1)) / 2),
        spoken: `${from.name} → ${to.name}: ${counted(link.count, "flow")} by ${link.kind}`,
      };
    });
}

function edge(from: string, to: string, weight: number): Edge {
  return { from, to, weight };
}

function groupedBy<T, K>(all: readonly T[], keyOf: (it: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const it of all) {
    const group = groups.get(keyOf(it)) ?? [];
    group.push(it);
    groups.set(keyOf(it), group);
  }
  return groups;
}

function largest(columns: ReadonlyMap<string, number>): number {
  return Math.max(0, ...columns.values());
}
