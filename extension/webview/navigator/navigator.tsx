/** The Navigator's page: draws {@link NavigatorShown}, keeps the focus, and asks for rows when they come on screen. */
import { render } from "preact";
import type { FromNavigator, NavigatorShown, ToNavigator } from "../../core/navigator/messages";
import type { NavigatorModel } from "../../core/navigator/model";
import { byId, connect } from "../dom";
import { Message } from "./navigatorMessage";
import { Rows } from "./navigatorRows";
import { Header, Hints, Top } from "./navigatorTop";

const vscode = connect<FromNavigator, ToNavigator>((message) => {
  switch (message.type) {
    case "show":
      show(message.shown);
      break;
    case "rows":
      rows.receive(message.revision, message.step, message.from, message.rows);
      break;
    case "busy":
      document.body.classList.toggle("busy", message.busy);
      break;
    case "keys":
      document.body.classList.toggle("keys", focused && message.turn === turn);
      break;
  }
});
const send = (message: FromNavigator) => vscode.postMessage(message);
const rows = new Rows(byId("rows"), byId("space"), byId("columns"), send, speak);
let shownPath = "";
let focused = false;
/** Counts changes of the focus. */
let turn = 0;

function show(shown: NavigatorShown): void {
  const searching = shown.kind === "open";
  byId("search").hidden = !searching;
  byId("message").hidden = searching;
  if (shown.kind === "open") {
    showModel(shown.model);
  } else {
    rows.show(undefined);
    render(<Message shown={shown} send={send} />, byId("message"));
  }
}

function showModel(model: NavigatorModel): void {
  render(<Header model={model} send={send} />, byId("header"));
  render(<Top model={model} send={send} />, byId("top"));
  render(<Hints model={model} send={send} />, byId("hints"));
  rows.show(model);
  const path = model.current?.frames.map(({ name, times }) => `${name} ${times}`).join("\n") ?? "";
  if (path !== shownPath) {
    shownPath = path;
    byId("top").scrollTop = 0;
    if (model.current !== null) {
      const { base, cum, frames } = model.current;
      const length = frames.reduce((sum, frame) => sum + frame.times, 0);
      speak(`${frames.at(-1)?.name ?? ""}, path of ${length}: base ${base.share}, cum ${cum.share}`);
    }
  }
}

function speak(text: string): void {
  byId("spoken").textContent = text;
}

// Single keys are keybindings of the editor, so that they can be changed; they hold while this page has the focus.
function focus(now: boolean): void {
  focused = now;
  turn += 1;
  document.body.classList.remove("keys");
  send({ type: "focus", focused, turn });
}

window.addEventListener("focus", () => focus(true));
window.addEventListener("blur", () => focus(false));
if (document.hasFocus()) {
  focus(true);
}
send({ type: "ready" });
