/** A long request with a notification that shows how far it is, and a button that cancels it. */
import * as vscode from "vscode";
import type { LongOptions, LongParams, ProgressStep, WithToken } from "../../core/engine/longRequest";
import type { RequestMessage } from "../../core/engine/protocol";
import type { Engine } from "./engine";

export interface Shown extends Pick<LongOptions, "onCancel"> {
  title: string;
  /** The notification appears only when the work takes longer, in milliseconds. Absent: at once. */
  after?: number;
  /** Receives the work's token and a way to cancel it, before it begins. */
  begun?: (workDoneToken: string, cancel: () => void) => void;
}

/** Sends a request and shows its progress. It fails with `Cancelled` when the user cancelled what only an answer would end. */
export async function shownRequest<P extends WithToken, R>(
  engine: Engine,
  message: RequestMessage<P, R>,
  params: LongParams<P>,
  { title, onCancel, after, begun }: Shown,
): Promise<R> {
  const cancelling = new vscode.CancellationTokenSource();
  let shown: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  const cancel = () => {
    if (onCancel === "stop") {
      shown?.report({ message: "stopping…" });
    }
    cancelling.cancel();
  };
  const increments = incrementsOf();
  let latest: ProgressStep | undefined;
  const working = engine.long(message, params, {
    onCancel,
    token: cancelling.token,
    report: (step) => {
      latest = { ...latest, ...step };
      if (shown !== undefined) {
        shown.report(increments(step));
      }
    },
    begun: (token) => begun?.(token, cancel),
  });
  const show = () =>
    vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title, cancellable: true },
      async (progress, token) => {
        shown = progress;
        // What it said before it was shown.
        if (latest !== undefined) {
          progress.report(increments(latest));
        }
        token.onCancellationRequested(cancel);
        // The notification closes when the work is over, however it ended: the caller learns how.
        await working.catch(() => undefined);
      },
    );
  const timer = after === undefined ? void show() : setTimeout(() => void show(), after);
  try {
    return await working;
  } finally {
    clearTimeout(timer ?? undefined);
    cancelling.dispose();
  }
}

/** The editor adds up increments; the engine says how much of the whole is done. */
function incrementsOf(): (step: ProgressStep) => { message?: string; increment?: number } {
  let done = 0;
  return ({ message, percentage }) => {
    const increment = percentage === undefined ? undefined : Math.max(0, percentage - done);
    done += increment ?? 0;
    return { ...(message === undefined ? {} : { message }), ...(increment === undefined ? {} : { increment }) };
  };
}
