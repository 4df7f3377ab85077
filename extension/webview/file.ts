/** The tab of a file whose results stand elsewhere: what became of it, and the ways on. */
import type { FilePage, FromFile, ToFile } from "../core/fileEditor";
import { byId, connect, h } from "./dom";

const vscode = connect<FromFile, ToFile>(({ page }) => show(page));
const send = (message: FromFile) => vscode.postMessage(message);

function show({ title, says, trouble, actions }: FilePage): void {
  const focused = document.activeElement?.id;
  byId("page").replaceChildren(
    h("h1", { text: title }),
    h("p", { class: trouble ? "trouble" : "", text: says, attrs: { role: trouble ? "alert" : "status", id: "says" } }),
    h(
      "div",
      { class: "line" },
      ...actions.map(({ text, command }, n) =>
        h("button", {
          class: n === 0 ? "main" : "plain",
          text,
          onclick: () => send({ type: "run", command }),
          attrs: { id: `run-${command}` },
        }),
      ),
    ),
  );
  if (focused) {
    document.getElementById(focused)?.focus();
  }
}

// What the editor gives back to a tab that is drawn anew: then nobody asked to open the file again.
const again = vscode.getState() !== undefined;
send({ type: "ready" });
send({ type: "begin", again });
