/** A list that may have thousands of entries: a long one scrolls in a box of its own, where only those in sight exist. */
import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";
import { rowsInSight } from "../../core/navigator/virtualList";
import { nextFrame } from "../settled";

/** Up to so many entries are shown without a box of their own. */
const few = 30;
const rowHeight = 22;
const rowsShown = 8;
const height = rowHeight * rowsShown;

interface Props {
  /** Its own among the lists of the page. */
  class: string;
  /** For screen readers. */
  label: string;
  count: number;
  entry: (index: number) => VNode | null;
  /** The whole list while it is short, from the places of its entries. */
  short: (places: readonly number[]) => VNode;
}

/** Whether a list of so many entries has a box of its own. */
export function isLong(count: number): boolean {
  return count > few;
}

export function LongList({ class: name, label, count, entry, short }: Props): VNode {
  const scroller = useRef<HTMLDivElement>(null);
  const drawing = useRef(false);
  const [scrolled, setScrolled] = useState(0);
  if (!isLong(count)) {
    return short(range(0, count));
  }
  const onScroll = () => {
    if (!drawing.current) {
      drawing.current = true;
      nextFrame(() => {
        drawing.current = false;
        setScrolled(scroller.current?.scrollTop ?? 0);
      });
    }
  };
  const [first, end] = rowsInSight(count, { scrolled, height, rowHeight });
  return (
    <div
      ref={scroller}
      class={`long ${name}`}
      style={{ height: `${height}px` }}
      role="list"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
      tabIndex={0}
      onScroll={onScroll}
    >
      <div class="space" style={{ height: `${count * rowHeight}px` }}>
        {range(first, end).map((index) => (
          <div
            key={index}
            class="long-row"
            style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
            role="listitem"
            aria-posinset={index + 1}
            aria-setsize={count}
          >
            {entry(index)}
          </div>
        ))}
      </div>
    </div>
  );
}

function range(from: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - from) }, (_, n) => from + n);
}
