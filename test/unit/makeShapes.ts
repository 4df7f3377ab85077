/** Every shape that the gutter can show. */
import type { LineShape } from "../../extension/core/engine/protocol";
import type { HotShape } from "../../extension/core/profiles/hotLines";

export const shapes: readonly LineShape[] = [
  ...(["gain4", "gain3", "gain2", "gain1", "flat"] as const),
  ...(["harm1", "harm2", "harm3", "unknown"] as const),
];

export const hotShapes: readonly HotShape[] = [
  ...(["hot1", "hot2", "hot3", "hot4"] as const),
  ...(["more1", "more2", "more3", "more4"] as const),
  ...(["less1", "less2", "less3"] as const),
];
