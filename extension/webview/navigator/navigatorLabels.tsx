/** Labels in the Navigator: those of the path, what it shares with each, and what all of them cover. */
import type { ComponentChildren, VNode } from "preact";
import type { CurrentModel, OverlapModel } from "../../core/navigator/current";
import type { FromNavigator } from "../../core/navigator/messages";
import type { CoverageModel, CoverageSegment } from "../../core/navigator/model";
import { Link, shareOf } from "../ui";
import { isLong, LongList } from "./longList";
import { Dot } from "./navigatorRow";

type Send = (message: FromNavigator) => void;

/** The labels of the current path, and more ways to go from it. */
export function Tags({
  current,
  send,
  children,
}: {
  current: CurrentModel;
  send: Send;
  children: ComponentChildren;
}): VNode {
  const { labels } = current;
  const entry = (place: number) => {
    const label = labels[place];
    return label === undefined ? null : <Tag key={label.name} name={label.name} index={label.index} send={send} />;
  };
  return (
    <div>
      <LongList
        class="tags"
        label="Labels of this path"
        count={labels.length}
        entry={entry}
        short={(places) => (
          <div class="labels">
            {places.map(entry)}
            {children}
          </div>
        )}
      />
      {isLong(labels.length) && <div class="labels">{children}</div>}
    </div>
  );
}

/** A label of the current path, with a way to take it away. */
function Tag({ name, index, send }: { name: string; index: number; send: Send }): VNode {
  return (
    <span class="tag">
      <Dot index={index} />
      <span>{name}</span>
      <Remove text={`Take the label ${name} from this path`} name={name} action="unlabel" send={send} />
    </span>
  );
}

export function Overlaps({ current, send }: { current: CurrentModel; send: Send }): VNode {
  const { overlaps } = current;
  const entry = (place: number) => {
    const overlap = overlaps[place];
    return overlap === undefined ? null : <Overlap key={overlap.label} overlap={overlap} send={send} />;
  };
  return (
    <section class="overlaps" aria-label="Overlap of this path with labels">
      <h2>Overlap with labels</h2>
      <LongList
        class="shared"
        label="Overlap with each label"
        count={overlaps.length}
        entry={entry}
        short={(places) => <div>{places.map(entry)}</div>}
      />
      {current.apart !== null && (
        <p class="quiet apart" title={current.apart}>
          {current.apart}
        </p>
      )}
      {current.unlabelled !== null && <p class="quiet">{current.unlabelled}</p>}
    </section>
  );
}

function Overlap({ overlap, send }: { overlap: OverlapModel; send: Send }): VNode {
  const said = `${overlap.label}: ${overlap.text}`;
  return (
    <div class="metric" title={said}>
      <span class="what">
        <Dot index={overlap.index} />
        <Show label={overlap.label} send={send} />
      </span>
      <span
        class={`bar label-${overlap.index % 8}${overlap.negative ? " less" : ""}`}
        style={shareOf(overlap.width)}
        role="img"
        aria-label={said}
      />
      <strong class="share">{overlap.share}</strong>
    </div>
  );
}

export function Coverage({ coverage, send }: { coverage: CoverageModel; send: Send }): VNode {
  const { segments } = coverage;
  const inOrder = (places: readonly number[]) =>
    places.map((place) => segments[place]).filter((it) => it !== undefined);
  return (
    <section class="coverage" aria-label="Coverage by labels">
      <h2>{coverage.text}</h2>
      <div class="stack" role="img" aria-label={coverage.description}>
        {coverage.bar.map((segment) => (
          <span
            key={segment.index}
            class={`label-${segment.index % 8}${segment.negative ? " less" : ""}`}
            title={segment.text}
            style={shareOf(segment.width)}
          />
        ))}
      </div>
      <LongList
        class="covering"
        label="What each label covers"
        count={segments.length}
        entry={(place) => {
          const segment = segments[place];
          return segment === undefined ? null : (
            <div class="segment" title={segment.text}>
              <Segment segment={segment} send={send} />
            </div>
          );
        }}
        short={(places) => (
          <ul class="legend">
            {inOrder(places).map((segment) => (
              <li key={segment.label} title={segment.text}>
                <Segment segment={segment} send={send} />
              </li>
            ))}
          </ul>
        )}
      />
      {coverage.gain !== null && <p class="quiet">{coverage.gain}</p>}
    </section>
  );
}

function Segment({ segment, send }: { segment: CoverageSegment; send: Send }): VNode {
  const { label, index, share } = segment;
  return (
    <>
      <Dot index={index} />
      <Show label={label} send={send} />
      <span class="quiet">{share}</span>
      <Remove text={`Remove the label ${label}`} name={label} action="remove" send={send} />
    </>
  );
}

function Show({ label, send }: { label: string; send: Send }): VNode {
  return (
    <Link title={`Go to ${label}`} onClick={() => send({ type: "label", name: label, action: "show" })}>
      {label}
    </Link>
  );
}

interface RemoveProps {
  text: string;
  name: string;
  action: "remove" | "unlabel";
  send: Send;
}

function Remove({ text, name, action, send }: RemoveProps): VNode {
  return (
    <Link class="icon" title={text} aria-label={text} onClick={() => send({ type: "label", name, action })}>
      ×
    </Link>
  );
}
