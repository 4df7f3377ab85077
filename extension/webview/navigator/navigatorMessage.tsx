/** What the Navigator shows while there is nothing to search: how to begin, how far opening is, what went wrong. */
import type { ButtonHTMLAttributes, VNode } from "preact";
import type { FromNavigator, NavigatorShown } from "../../core/navigator/messages";
import { Button, ProgressBar } from "../ui";

type Send = (message: FromNavigator) => void;

export function Message({ shown, send }: { shown: Exclude<NavigatorShown, { kind: "open" }>; send: Send }): VNode {
  const open = () => send({ type: "run", command: "fulcrum.profile.open" });
  const again = () => send({ type: "run", command: "fulcrum.profile.openAgain" });
  switch (shown.kind) {
    case "empty":
      return (
        <>
          <p>Find the call sequences that cost the most, in any profile of any size.</p>
          <Main onClick={open}>Open Profile…</Main>
          {shown.again !== null && <Second onClick={again}>{`Open ${shown.again} Again`}</Second>}
          <p class="quiet">
            pprof, folded stacks, perf, cpuprofile, Chrome trace, speedscope, Firefox, JFR, callgrind and more: the
            format is found by content.
          </p>
          <p class="quiet">
            To compare two, choose Select Profile for Compare on the one before the change in the explorer, then Compare
            with Selected Profile on the other.
          </p>
        </>
      );
    case "opening":
      return (
        <>
          <p>{`Opening ${shown.title}…`}</p>
          <ProgressBar label={`Opening ${shown.title}`} fraction={shown.fraction} />
          <p class="quiet">{shown.message}</p>
          <Second onClick={() => send({ type: "cancel" })}>Cancel</Second>
        </>
      );
    case "trouble":
      return (
        <>
          <p class="trouble" role="alert">
            {shown.text}
          </p>
          <Main onClick={open}>Open Another…</Main>
          {shown.again && <Second onClick={again}>Try Again</Second>}
        </>
      );
  }
}

function Main(props: ButtonHTMLAttributes<HTMLButtonElement>): VNode {
  return <Button class="main wide" {...props} />;
}

function Second(props: ButtonHTMLAttributes<HTMLButtonElement>): VNode {
  return <Button class="main wide secondary" {...props} />;
}
