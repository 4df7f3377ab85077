/** Assigns a graph's nodes to layers: the columns of a drawing from left to right. */

export interface Edge {
  from: string;
  to: string;
  weight: number;
}

/**
 * A column for each node, from 0 on: one more than the largest of those that lead to it. Of edges that make a circle, as
 * requests and replies do, those count that agree with `position`, then the heavier ones.
 */
export function layers(
  nodes: readonly string[],
  edges: readonly Edge[],
  position: ReadonlyMap<string, number>,
): Map<string, number> {
  const before = new Map<string, Set<string>>(nodes.map((node) => [node, new Set()]));
  for (const { from, to } of ranked(edges, position)) {
    if (from !== to && before.has(from) && !isBefore(before, to, from)) {
      before.get(to)?.add(from);
    }
  }
  const found = new Map<string, number>();
  const layerOf = (node: string): number => {
    const known = found.get(node);
    if (known !== undefined) {
      return known;
    }
    const layer = Math.max(-1, ...[...(before.get(node) ?? [])].map(layerOf)) + 1;
    found.set(node, layer);
    return layer;
  };
  for (const node of nodes) {
    layerOf(node);
  }
  return found;
}

function ranked(edges: readonly Edge[], position: ReadonlyMap<string, number>): Edge[] {
  const agrees = ({ from, to }: Edge): number => {
    const [a, b] = [position.get(from), position.get(to)];
    return a === undefined || b === undefined || a === b ? 1 : a < b ? 0 : 2;
  };
  return [...edges].sort((a, b) => agrees(a) - agrees(b) || b.weight - a.weight);
}

/** Whether one node comes before another, directly or by others. */
function isBefore(before: ReadonlyMap<string, ReadonlySet<string>>, first: string, second: string): boolean {
  const seen = new Set<string>();
  const waiting = [second];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node === first) {
      return true;
    }
    if (!seen.has(node)) {
      seen.add(node);
      waiting.push(...(before.get(node) ?? []));
    }
  }
  return false;
}
