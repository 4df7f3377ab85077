/** A transactional profile: types, crosstalk, stages, one transaction, notes. */
import { createRef, render, type VNode } from "preact";
import type { TransactionsOpened } from "../../core/engine/protocol";
import type { FromTransactions, ToTransactions } from "../../core/transactions/messages";
import { summaryText } from "../../core/transactions/types";
import { byId, connect } from "../dom";
import { Button } from "../ui";
import { Crosstalk, type Pair } from "./transactionsCrosstalk";
import { Stages } from "./transactionsDiagram";
import { TypeTable } from "./transactionsTypes";
import { WayView } from "./transactionsWay";

const vscode = connect<FromTransactions, ToTransactions>(receive);
const send = (message: FromTransactions) => vscode.postMessage(message);
const go = (name: string) => send({ type: "frame", name });

/** What the page shows, besides how the recording is going. */
type Shown = Exclude<ToTransactions, { type: "live" }>;

let shown: Shown | undefined;
/** How the recording is going; null when there is none. */
let recording: string | null = null;
/** Whose transactions the timeline shows. */
let timed: { title: string; opened: TransactionsOpened; turn: number } | undefined;
const types = createRef<TypeTable>();
const way = createRef<WayView>();
/** The type whose transaction was shown last. */
let lastType = "";
/** The pair of the crosstalk that was open last: it stays open when the run is read again. */
let lastPair: Pair | null = null;

function receive(message: ToTransactions): void {
  if (message.type === "live") {
    recording = message.text;
  } else {
    if (message.type === "show") {
      follow(message.title, message.opened);
    }
    shown = message;
  }
  render(<Page />, byId("page"));
}

/** The timeline follows what is read, unless the user looks at a transaction while more are recorded. */
function follow(title: string, opened: TransactionsOpened): void {
  const isShown = shown?.type === "show" && timed?.title === title;
  if (recording === null || !isShown || way.current?.isLookedAt !== true) {
    timed = { title, opened, turn: (timed?.turn ?? 0) + 1 };
  }
}

function chosen(type: string): void {
  lastType = type;
  types.current?.mark(type);
}

function opensPair(pair: Pair): void {
  lastPair = pair;
}

function Page(): VNode | null {
  switch (shown?.type) {
    case undefined:
      return null;
    case "opening":
      return (
        <>
          <h1>{shown.title}</h1>
          <Recording />
          <p class="quiet" role="status" id="opening">
            {shown.message}
          </p>
          <Button id="cancel" onClick={() => send({ type: "cancel" })}>
            Cancel
          </Button>
        </>
      );
    case "trouble":
      return (
        <>
          <p class="trouble" role="alert">
            {shown.text}
          </p>
          <Button id="again" onClick={() => send({ type: "again" })}>
            Try Again
          </Button>
        </>
      );
    case "show":
      return <Profile title={shown.title} opened={shown.opened} />;
  }
}

function Profile({ title, opened }: { title: string; opened: TransactionsOpened }): VNode {
  const { notes } = opened.shown;
  return (
    <>
      <h1>{title}</h1>
      <Recording />
      <div class="line">
        <span role="status" id="summary">
          {summaryText(opened.shown, opened.crosstalk.waitNs)}
        </span>
        {/* A recording is read again by itself. */}
        <Button id="again" hidden={recording !== null} onClick={() => send({ type: "again" })}>
          Read Again
        </Button>
      </div>
      <TypeTable
        ref={types}
        shown={opened.shown}
        choose={(type) => way.current?.choose(type)}
        act={(action, of) => send({ type: "of", action, of })}
        go={go}
      />
      <Crosstalk
        crosstalk={opened.crosstalk}
        first={lastPair}
        chosen={opensPair}
        go={go}
        measure={(pair) => send({ type: "price", pair })}
      />
      <Stages opened={opened} go={go} />
      {timed !== undefined && (
        <WayView key={timed.turn} ref={way} opened={timed.opened} first={lastType} chosen={chosen} go={go} />
      )}
      {notes.length > 0 && (
        <section id="notesPart" aria-label="Notes">
          <h2>Notes</h2>
          <ul class="notes">
            {notes.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** How the recording is going. It is not announced, because it changes all the time. */
function Recording(): VNode {
  return (
    <div class="line" id="live" role="group" aria-label="The recording" hidden={recording === null}>
      <strong>Recording</strong>
      <span id="standing">{recording}</span>
      <Button
        id="stop"
        title="End the recording and the program, and keep what was recorded"
        onClick={() => send({ type: "stop" })}
      >
        Stop
      </Button>
    </div>
  );
}

send({ type: "ready" });
