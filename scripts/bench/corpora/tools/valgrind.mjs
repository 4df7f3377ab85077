/** Places in programs, as Valgrind's tools write them. */

/**
 * The function at a place, as Fulcrum names it.
 * @param {string} place `0x804841A: main (prog.c:20)`, `0x5660C2B: ??? (in /usr/lib/libQtGui.so)`
 */
export function functionAt(place) {
  const { address, name, where } =
    /^(?<address>0x[\da-f]+): (?<name>.*?)(?: \((?<where>in [^()]*|[^()]*:\d+)\))?$/i.exec(place)?.groups ?? {};
  if (name !== "???") {
    return name ?? place;
  }
  const module = /^in (.*)$/
    .exec(where ?? "")?.[1]
    .split("/")
    .at(-1);
  const short = address.replace(/^0x0*/, "0x");
  return module === undefined ? short : `${short} (${module})`;
}
