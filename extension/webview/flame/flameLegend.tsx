/** What the colours of a flame graph mean. */
import type { VNode } from "preact";
import { type FlameTheme, flameTheme, labelPaint, type Paint } from "../../core/flame/colours";
import type { FlameShown } from "../../core/flame/messages";
import { themeKind, themeReader } from "../theme";

/** Boxes carry the number of their label; in a comparison the colour shows what changed. */
export function Legend({ shown: { comparison, labels } }: { shown: FlameShown }): VNode {
  const theme = flameTheme(themeKind(), themeReader());
  return (
    <>
      {comparison && <Scale theme={theme} />}
      {labels.map((name, n) => (
        <span key={name} class="tag">
          <Swatch paint={comparison ? theme.muted : labelPaint(theme, n)} text={`#${n + 1}`} />
          {name}
        </span>
      ))}
    </>
  );
}

function Scale({ theme }: { theme: FlameTheme }): VNode {
  return (
    <span class="scale" role="img" aria-label="Blue: less in A. Orange: more in A.">
      {"− less in A "}
      {theme.differences.map((paint) => (
        <Swatch key={paint.fill} paint={paint} text="" />
      ))}
      {" more in A +"}
    </span>
  );
}

function Swatch({ paint, text }: { paint: Paint; text: string }): VNode {
  return (
    <span class="swatch" style={{ background: paint.fill, color: paint.text }}>
      {text}
    </span>
  );
}
