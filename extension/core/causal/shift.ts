/** Keeps results on their lines between an edit and the engine's next answer. */

/** One replaced range, as the editor reports it. Lines and characters are 0-based. */
export interface Change {
  startLine: number;
  startCharacter: number;
  endLine: number;
  text: string;
}

/** Whether the changes move any line: most are letters within one. */
export function movesLines(changes: readonly Change[]): boolean {
  return changes.some(({ startLine, endLine, text }) => startLine !== endLine || text.includes("\n"));
}

/** The lines after the changes. Results inside a deleted range collect on its first line. */
export function shiftLines<T extends { line: number }>(lines: readonly T[], changes: readonly Change[]): T[] {
  let shifted = [...lines];
  for (const change of changes) {
    const delta = (change.text.match(/\n/g)?.length ?? 0) - (change.endLine - change.startLine);
    const wholeLineDown =
      change.startCharacter === 0 && change.endLine === change.startLine && change.text.endsWith("\n");
    shifted = shifted.map((line) => {
      if (line.line > change.endLine || (line.line === change.startLine && wholeLineDown)) {
        return { ...line, line: line.line + delta };
      }
      return line.line > change.startLine
        ? { ...line, line: Math.min(line.line, Math.max(change.startLine, line.line + delta)) }
        : line;
    });
  }
  return shifted;
}
