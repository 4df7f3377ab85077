/** The tab of a file whose results are shown elsewhere: what became of it, and what to do next. */
import { render, type VNode } from "preact";
import type { FilePage, FromFile, ToFile } from "../core/profiles/fileEditor";
import { byId, connect } from "./dom";
import { Button } from "./ui";

const vscode = connect<FromFile, ToFile>(({ page }) => render(<Page page={page} />, byId("page")));
const send = (message: FromFile) => vscode.postMessage(message);

function Page({ page: { title, says, trouble, actions } }: { page: FilePage }): VNode {
  return (
    <>
      <h1>{title}</h1>
      <p id="says" class={trouble ? "trouble" : undefined} role={trouble ? "alert" : "status"}>
        {says}
      </p>
      <div class="line">
        {actions.map(({ text, command }, n) => (
          <Button
            key={command}
            id={`run-${command}`}
            class={n === 0 ? "main" : "plain"}
            onClick={() => send({ type: "run", command })}
          >
            {text}
          </Button>
        ))}
      </div>
    </>
  );
}

// Given back to a tab that is loaded again: then the user did not ask to open the file.
const again = vscode.getState() !== undefined;
send({ type: "ready" });
send({ type: "begin", again });
