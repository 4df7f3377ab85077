/** The page of two compared causal profiles. */
import { render, type VNode } from "preact";
import type { FromCompare, ToCompare } from "../../core/causal/compare";
import { byId, connect } from "../dom";
import { Button } from "../ui";
import { Comparison } from "./compareTable";

const vscode = connect<FromCompare, ToCompare>((message) => render(<Page message={message} />, byId("page")));
const send = (message: FromCompare) => vscode.postMessage(message);

function Page({ message }: { message: ToCompare }): VNode {
  switch (message.type) {
    case "show":
      return <Comparison model={message.model} send={send} />;
    case "loading":
      return (
        <main>
          <h1>Predicted and Actual</h1>
          <p role="status">Comparing the two runs…</p>
        </main>
      );
    case "trouble":
      return (
        <main>
          <h1>Predicted and Actual</h1>
          <p role="alert">{message.text}</p>
          <div class="actions">
            <Button onClick={() => send({ type: "choose" })}>Choose Other Runs…</Button>
            <Button onClick={() => send({ type: "refresh" })}>Try Again</Button>
          </div>
        </main>
      );
  }
}

send({ type: "ready" });
