/** FNV-1a of a text's letters: the same text has the same number everywhere, so the same name has the same colour. */
export function hash(text: string): number {
  let value = 2166136261;
  for (let n = 0; n < text.length; n += 1) {
    value = Math.imul(value ^ text.charCodeAt(n), 16777619);
  }
  return value >>> 0;
}
