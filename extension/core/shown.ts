/** Tells that something which is shown has changed. Tests wait for it; nothing else does. */
const listeners = new Set<() => void>();

export function onDidShow(listener: () => void): { dispose(): void } {
  listeners.add(listener);
  return { dispose: () => listeners.delete(listener) };
}

export function didShow(): void {
  for (const listener of [...listeners]) {
    listener();
  }
}
