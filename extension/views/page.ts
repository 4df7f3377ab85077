/** The frame of a webview's page: what it may load, and nothing else. No `vscode` in here. */

export interface PageAssets {
  /** For the script and the content security policy. */
  nonce: string;
  cspSource: string;
  script: string;
  /** Style sheets, the common one first. */
  styles: readonly string[];
}

/** `body` is HTML; `title` is text. */
export function pageHtml(title: string, body: string, assets: PageAssets): string {
  const policy = `default-src 'none'; style-src ${assets.cspSource}; script-src 'nonce-${assets.nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${assets.styles.map((style) => `<link rel="stylesheet" href="${style}">`).join("\n")}
<title>${escapeHtml(title)}</title>
</head>
<body>
${body}
<script nonce="${assets.nonce}" src="${assets.script}"></script>
</body>
</html>`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
