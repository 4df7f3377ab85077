/** Turns what the engine or the system says into one sentence, advice, and whose fault it is. */

export type Blame = "user" | "environment" | "fulcrum";

export interface Trouble {
  message: string;
  advice: string | null;
  blame: Blame;
  /** The engine went away before it answered. */
  connectionLost: boolean;
  cancelled: boolean;
}

/** JSON-RPC codes that mean that no answer came: connection inactive, response dropped, connection closed. */
const lostCodes = new Set([-32099, -32097, -32096]);
const requestCancelled = -32800;

/** The work was cancelled: nothing went wrong, and nothing is shown. */
export class Cancelled extends Error {
  readonly code = requestCancelled;

  constructor() {
    super("It was cancelled.");
  }
}

export function troubleOf(error: unknown): Trouble {
  const record = typeof error === "object" && error !== null ? (error as Record<string, unknown>) : {};
  const data = typeof record.data === "object" && record.data !== null ? (record.data as Record<string, unknown>) : {};
  const message = typeof record.message === "string" ? record.message : String(error);
  const code = typeof record.code === "number" ? record.code : 0;
  const connectionLost =
    lostCodes.has(code) || /connection (got disposed|is closed)|client is not running/i.test(message);
  if (connectionLost) {
    return {
      message: "Fulcrum's engine stopped before it could answer.",
      advice: "It restarts by itself. Try again in a moment.",
      blame: "fulcrum",
      connectionLost,
      cancelled: false,
    };
  }
  return {
    message: sentence(message),
    advice: typeof data.advice === "string" && data.advice !== "" ? sentence(data.advice) : null,
    blame: data.blame === "user" || data.blame === "environment" ? data.blame : "fulcrum",
    connectionLost: false,
    cancelled: code === requestCancelled,
  };
}

/** What to show: the message, then the advice. */
export function troubleText(trouble: Trouble): string {
  return trouble.advice === null ? trouble.message : `${trouble.message} ${trouble.advice}`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
