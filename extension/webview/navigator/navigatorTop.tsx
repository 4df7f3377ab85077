/** Above the rows: the profile, how to suggest, the history, the current path with its costs, labels and overlap. */
import type { VNode } from "preact";
import type { CurrentModel, MetricModel } from "../../core/navigator/current";
import type { FromNavigator } from "../../core/navigator/messages";
import type { NavigatorModel } from "../../core/navigator/model";
import { Link, Notes, ProfileTitle, shareOf } from "../ui";
import { Coverage, Overlaps, Tags } from "./navigatorLabels";

type Send = (message: FromNavigator) => void;

interface Props {
  model: NavigatorModel;
  send: Send;
}

export function Header({ model, send }: Props): VNode {
  const run = (command: string) => () => send({ type: "run", command: `fulcrum.navigator.${command}` });
  const total = model.totals === null ? "" : `${model.totals}; `;
  return (
    <>
      <div class="line">
        <ProfileTitle title={model.title} />
        {model.severalValues ? (
          <Link title="Value type (V)" onClick={run("value")}>{`${model.value} ▾`}</Link>
        ) : (
          <span class="quiet">{model.value}</span>
        )}
      </div>
      <div class="quiet">{`${total}${model.shares}`}</div>
      <div class="line tools">
        <span class="group" role="group" aria-label="Suggester">
          <Suggester name="HighCum" where="top" {...{ model, run }} />
          <Suggester name="HighBase" where="bottom" {...{ model, run }} />
        </span>
        <Choice on={model.zoom} title="Leave out what costs little (Z)" onClick={run("toggleZoom")} text="Zoom" />
        {model.zoom && (
          <Link
            class="link quiet"
            title="What zooming keeps (C)"
            onClick={run("cutoff")}
          >{`cutoff ${model.cutoff}`}</Link>
        )}
      </div>
      <Crumbs model={model} send={send} />
    </>
  );
}

interface SuggesterProps {
  name: NavigatorModel["suggester"];
  where: string;
  model: NavigatorModel;
  run: (command: string) => () => void;
}

function Suggester({ name, where, model, run }: SuggesterProps): VNode {
  const on = model.suggester === name;
  // The active suggester suggests again.
  const press = run(on ? "suggest" : "toggleSuggester");
  return <Choice on={on} title={`Suggest from the ${where} (U changes)`} onClick={press} text={name} />;
}

interface ChoiceProps {
  text: string;
  on: boolean;
  title: string;
  onClick: () => void;
}

function Choice({ text, on, title, onClick }: ChoiceProps): VNode {
  return (
    <Link class={on ? "choice on" : "choice"} title={title} aria-pressed={on} onClick={onClick}>
      {text}
    </Link>
  );
}

function Crumbs({ model, send }: Props): VNode {
  const step = (text: string, title: string, command: string, enabled: boolean) => (
    <Link
      class="icon"
      title={title}
      aria-label={title}
      disabled={!enabled}
      onClick={() => send({ type: "run", command: `fulcrum.navigator.${command}` })}
    >
      {text}
    </Link>
  );
  return (
    <nav class="line crumbs" aria-label="History">
      {step("←", "Back (Backspace)", "back", model.canBack)}
      {step("→", "Forward (Shift+Backspace)", "forward", model.canForward)}
      <ol>
        {model.crumbs.map((crumb) => (
          <li key={crumb.at}>
            <Link
              class={crumb.current ? "link current" : "link"}
              title={crumb.title}
              aria-current={crumb.current ? "step" : undefined}
              onClick={() => send({ type: "goTo", revision: model.revision, at: crumb.at })}
            >
              {crumb.text}
            </Link>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function Top({ model, send }: Props): VNode {
  const { current, coverage, notes } = model;
  return (
    <>
      {current !== null && <Path current={current} send={send} />}
      {current !== null && <Metrics current={current} model={model} />}
      {current !== null && current.unlabelled !== null && <Overlaps current={current} send={send} />}
      {coverage !== null && <Coverage coverage={coverage} send={send} />}
      <Notes notes={notes} />
    </>
  );
}

function Path({ current, send }: { current: CurrentModel; send: Send }): VNode {
  const link = (text: string, title: string, command: string) => (
    <Link title={title} onClick={() => send({ type: "run", command })}>
      {text}
    </Link>
  );
  return (
    <section aria-label="Current path">
      <ol class="path">
        {current.frames.map((frame, depth) => (
          <li key={depth}>
            <Link
              class={frame.recorded === null ? "link searched" : "link"}
              title={`${frame.name}\n${frame.recorded ?? "Looks for its definition in the workspace"}`}
              onClick={() => send({ type: "frame", name: frame.name })}
            >
              {frame.short}
            </Link>
          </li>
        ))}
      </ol>
      <Tags current={current} send={send}>
        {link("+ Label", "Label this path (L)", "fulcrum.navigator.label")}
        {link("Flame graph", "This path, merged over all its contexts (M)", "fulcrum.navigator.flamePath")}
      </Tags>
    </section>
  );
}

function Metrics({ current, model }: { current: CurrentModel; model: NavigatorModel }): VNode {
  return (
    <section class="metrics" aria-label="Cost of the current path">
      <Metric metric={current.base} model={model} />
      <Metric metric={current.cum} model={model} />
      {current.paradox !== null && <p class="quiet">{current.paradox}</p>}
      {current.limit !== null && <p class="quiet">{current.limit}</p>}
    </section>
  );
}

function Metric({ metric, model }: { metric: MetricModel; model: NavigatorModel }): VNode {
  const { sides, certainty } = metric;
  const said = [
    `${metric.name}, ${metric.meaning}: ${metric.share} ${model.denominator}`,
    ...(sides === null ? [metric.cost] : [`A ${sides.a}`, `B ${sides.b}`, `difference ${sides.delta}`]),
    ...(certainty === null ? [] : [certainty.text]),
  ].join(", ");
  return (
    <div class="metric" title={said} role="img" aria-label={said}>
      <span class="what">{metric.name}</span>
      {sides === null ? (
        <Bar width={metric.width} kind={metric.negative ? "less" : metric.name.toLowerCase()} />
      ) : (
        <span class="pair">
          <Bar width={sides.aWidth} kind="side-a" />
          <Bar width={sides.bWidth} kind="side-b" />
        </span>
      )}
      <strong class="share">{metric.share}</strong>
      <span class="cost quiet">{sides === null ? metric.cost : `A ${sides.a} − B ${sides.b} = ${sides.delta}`}</span>
      {certainty !== null && <span class="cost quiet">{`${certainty.significant ? "●" : "○"} ${certainty.text}`}</span>}
    </div>
  );
}

function Bar({ width, kind }: { width: number; kind: string }): VNode {
  return <span class={`bar ${kind}`} style={shareOf(width)} />;
}

const keysWithoutPath = [
  ["↵", "select"],
  ["U", "suggester"],
  ["/", "find"],
  ["B", "find bottlenecks"],
] as const;

const keysOnPath = [
  ["E", "extend"],
  ["T", "trim"],
  ["L", "label"],
  ["⌫", "back"],
  ["Z", "zoom"],
  ["S", "suggest"],
] as const;

/** The keys, where the eye finds them. */
export function Hints({ model, send }: Props): VNode {
  const keys = model.current === null ? keysWithoutPath : keysOnPath;
  return (
    <>
      {keys.map(([name, text]) => (
        <span key={name}>
          <kbd>{name}</kbd>
          {` ${text}`}
        </span>
      ))}
      <Link
        title="Every key of the Navigator (?)"
        onClick={() => send({ type: "run", command: "fulcrum.navigator.keys" })}
      >
        all keys
      </Link>
    </>
  );
}
