/** The stage diagram: boxes are threads and stages in their processes, arrows are flows. */
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { TransactionFlowKind, TransactionsOpened } from "../../core/engine/protocol";
import {
  type Diagram,
  type DiagramArrow,
  type DiagramBox,
  type DiagramProcess,
  mostBoxes,
  stageDiagram,
} from "../../core/transactions/diagram";
import { isFunction } from "../../core/transactions/paths";

/** How kinds of flows are distinguished without colour, in the order of the legend. */
const kinds: readonly (readonly [TransactionFlowKind, string])[] = [
  ["message", "message"],
  ["memory", "shared memory"],
  ["event", "event"],
  ["stage", "new thread or process, queue of a stage"],
];

/** Pixels of a letter. */
const letter = 7.4;

interface Props {
  opened: TransactionsOpened;
  /** Goes to a function's source. */
  go: (name: string) => void;
}

export function Stages({ opened, go }: Props): VNode {
  const diagram = useMemo(() => stageDiagram(opened.shown, opened.ways), [opened]);
  return (
    <section id="stagesPart" aria-label="Stages">
      <h2>Stages</h2>
      {diagram === null ? (
        <p class="quiet">
          There is nothing to draw: the run has no CPU samples, and no flow from one stage to another.
        </p>
      ) : (
        <>
          <p class="quiet">
            {`Threads with their share of all CPU time, stages, and how often transactions went from one to another. Click a function for its source. At most ${mostBoxes} boxes are drawn; the others are combined into one.`}
          </p>
          <Legend used={new Set(diagram.arrows.map((arrow) => arrow.kind))} />
          <div class="scroll">
            <Picture diagram={diagram} go={go} />
          </div>
          <ul class="unseen">
            {diagram.arrows.map((arrow) => (
              <li key={keyOf(arrow)}>{arrow.spoken}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Legend({ used }: { used: ReadonlySet<TransactionFlowKind> }): VNode {
  return (
    <div class="keys">
      {kinds
        .filter(([kind]) => used.has(kind))
        .map(([kind, text]) => (
          <span key={kind} class="key">
            <svg width={34} height={12} aria-hidden="true">
              <line x1={0} y1={6} x2={34} y2={6} class={`flow ${kind}`} />
            </svg>
            {text}
          </span>
        ))}
    </div>
  );
}

/** The flows of the box that has the mouse or the focus are lit. */
function Picture({ diagram, go }: { diagram: Diagram; go: (name: string) => void }): VNode {
  const { width, height, processes, boxes, arrows } = diagram;
  const [lit, light] = useState<string | null>(null);
  const classOf = (name: string, { from, to }: DiagramArrow) =>
    lit !== null && (from === lit || to === lit) ? `${name} on` : name;
  return (
    <svg
      id="diagram"
      class={lit === null ? undefined : "lit"}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      aria-label={`${boxes.length} stages, ${arrows.length} flows between them`}
    >
      <Tip />
      {processes.map((process) => (
        <Process key={process.name} process={process} />
      ))}
      {arrows.map((arrow) => (
        <Arrow key={keyOf(arrow)} arrow={arrow} class={classOf("arrow", arrow)} />
      ))}
      {boxes.map((box) => (
        <Box key={box.id} box={box} go={go} light={light} />
      ))}
      {/* Counts are above all boxes and lines. */}
      {arrows.map((arrow) => (
        <text key={`count ${keyOf(arrow)}`} class={classOf("count", arrow)} x={arrow.x} y={arrow.y - 3}>
          {arrow.count}
        </text>
      ))}
    </svg>
  );
}

/** The arrow's head. */
function Tip(): VNode {
  return (
    <defs>
      <marker
        id="tip-of-flow"
        viewBox="0 0 8 8"
        refX={7}
        refY={4}
        markerWidth={8}
        markerHeight={8}
        markerUnits="userSpaceOnUse"
        orient="auto"
      >
        <path d="M0 0L8 4L0 8z" class="tip" />
      </marker>
    </defs>
  );
}

function Process({ process: { name, shareText, x, y, width, height } }: { process: DiagramProcess }): VNode {
  return (
    <g class="process">
      <rect x={x} y={y} width={width} height={height} rx={4} />
      <text x={x + 10} y={y + 17}>
        {cut(name, width - 28 - letter * shareText.length)}
        <title>{name}</title>
      </text>
      <text x={x + width - 10} y={y + 17} class="number">
        {shareText}
      </text>
    </g>
  );
}

interface BoxProps {
  box: DiagramBox;
  go: (name: string) => void;
  light: (id: string | null) => void;
}

function Box({ box, go, light }: BoxProps): VNode {
  const { id, x, y, width, height, name, share, shareText, spoken } = box;
  // A box without a share is a place, which is a function; with a share it is a thread.
  const source = share === null && isFunction(name) ? () => go(name) : undefined;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has a role; which one depends on the box.
    <g
      class={share !== null ? "box" : source === undefined ? "box place" : "box place source"}
      tabindex={0}
      role={source === undefined ? "img" : "button"}
      aria-label={spoken}
      data-id={id}
      onClick={source}
      onKeyDown={(event) => {
        if (event.key === "Enter") {
          source?.();
        }
      }}
      onFocus={() => light(id)}
      onBlur={() => light(null)}
      onMouseEnter={() => light(id)}
      onMouseLeave={() => light(null)}
    >
      <title>{spoken}</title>
      <rect x={x} y={y} width={width} height={height} rx={3} />
      {share !== null && (
        <rect class="share" x={x + 1} y={y + height - 6} width={Math.max(1, share * (width - 2))} height={5} />
      )}
      <text x={x + 7} y={y + 20}>
        {cut(name, width - 20 - letter * shareText.length)}
      </text>
      <text x={x + width - 7} y={y + 20} class="number">
        {shareText}
      </text>
    </g>
  );
}

function Arrow({ arrow, class: name }: { arrow: DiagramArrow; class: string }): VNode {
  return (
    <g class={name}>
      <title>{arrow.spoken}</title>
      <path d={arrow.path} class={`flow ${arrow.kind}`} marker-end="url(#tip-of-flow)" stroke-width={arrow.thickness} />
    </g>
  );
}

/** Between two boxes there is at most one arrow of a kind. */
function keyOf({ from, to, kind }: DiagramArrow): string {
  return `${from}\n${to}\n${kind}`;
}

/** As many letters as fit into so many pixels: the end of a name says more than its middle. */
function cut(text: string, pixels: number): string {
  const letters = Math.max(4, Math.floor(pixels / letter));
  if (text.length <= letters) {
    return text;
  }
  const tail = Math.floor((letters - 1) / 2);
  return `${text.slice(0, letters - 1 - tail)}…${text.slice(text.length - tail)}`;
}
