// The compare view's hands: clicks and keys become messages to the extension. All content comes from there.
(() => {
  const vscode = acquireVsCodeApi();
  window.addEventListener("message", ({ data }) => {
    if (data?.type === "remember") {
      vscode.setState(data.state);
    }
  });

  const rowOf = (node) => node.closest?.("tr[data-target]");
  const goTo = (row) =>
    vscode.postMessage({ type: "goto", point: Number(row.dataset.point), target: Number(row.dataset.target) });

  document.addEventListener("click", ({ target }) => {
    const action = target.closest?.("button[data-action]")?.dataset.action;
    if (action !== undefined) {
      vscode.postMessage({ type: action });
      return;
    }
    const row = rowOf(target);
    // Who selects text to copy it does not want to go away.
    if (row && String(window.getSelection()) === "") {
      goTo(row);
    }
  });

  // Arrows go from row to row; Tab reaches each as usual, Enter is the button's own.
  document.addEventListener("keydown", (event) => {
    const rows = [...document.querySelectorAll("tr[data-target]:has(button)")];
    const now = rows.indexOf(rowOf(event.target));
    const next = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: rows.length - 1 }[event.key];
    if (now >= 0 && next !== undefined && rows[next] !== undefined) {
      rows[next].querySelector("button").focus();
      event.preventDefault();
    }
  });
  vscode.postMessage({ type: "ready" });
})();
