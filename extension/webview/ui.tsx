/** What pages are made of. */
import { type ButtonHTMLAttributes, type ComponentChildren, Fragment, options, type VNode } from "preact";
import { against, cutNames, titleHover } from "../core/profiles/titles";
import { type FoldedNote, foldNotes, moreText } from "../core/text/notes";

// Changes are drawn at once: a page that has drawn what it was sent is settled.
options.debounceRendering = (draw) => draw();

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement>;

export function Button(props: ButtonProps): VNode {
  return <button type="button" class="plain" {...props} />;
}

/** A button that looks like a link. */
export function Link(props: ButtonProps): VNode {
  return <button type="button" class="link" {...props} />;
}

/** A share as a custom property, which the stylesheet makes a width of. */
export function shareOf(share: number): Record<string, string> {
  return { "--share": String(share) };
}

/** A profile's title: where there is too little room, what the names have in common goes. */
export function ProfileTitle({ title, quiet = false }: { title: string; quiet?: boolean }): VNode {
  const Name = quiet ? "span" : "strong";
  return (
    <Name class={quiet ? "title quiet" : "title"} title={titleHover(title)}>
      {cutNames(title).map(({ head, kept, tail }, n) => (
        <Fragment key={`${head}${kept}${tail}`}>
          <span>{n === 0 ? "" : against}</span>
          <span class="head">{head}</span>
          <span>{kept}</span>
          <span class="tail">{tail}</span>
        </Fragment>
      ))}
    </Name>
  );
}

/** Notes, each with what is more than a sentence folded, and the last of many. */
export function Notes({ notes }: { notes: readonly string[] }): VNode | null {
  const { shown, more } = foldNotes(notes);
  if (shown.length === 0) {
    return null;
  }
  return (
    <ul class="notes">
      {shown.map((note) => (
        <Note key={note.begins + note.rest} note={note} />
      ))}
      {more.length > 0 && (
        <li>
          <Folded begins={moreText(more)}>
            <ul>
              {more.map((note) => (
                <Note key={note.begins + note.rest} note={note} />
              ))}
            </ul>
          </Folded>
        </li>
      )}
    </ul>
  );
}

function Note({ note: { begins, rest } }: { note: FoldedNote }): VNode {
  if (rest === "") {
    return <li>{begins}</li>;
  }
  return (
    <li>
      <Folded begins={begins}>
        <span>{rest}</span>
      </Folded>
    </li>
  );
}

function Folded({ begins, children }: { begins: string; children: ComponentChildren }): VNode {
  return (
    <details>
      <summary>{begins}</summary>
      {children}
    </details>
  );
}

interface Column {
  text: string;
  /** What it means, where the mouse is. */
  title?: string;
  /** Texts are left-aligned, numbers right-aligned. */
  kind?: "text";
}

/** The head of a table. */
export function Head({ columns }: { columns: readonly Column[] }): VNode {
  return (
    <thead>
      <tr>
        {columns.map(({ text, title, kind }) => (
          <th key={title ?? text} scope="col" title={title} class={kind}>
            {text}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** How far something is, for eyes and for screen readers. */
export function ProgressBar({
  label,
  fraction,
}: {
  label: string /** 0 to 1; null: it is not known. */;
  fraction: number | null;
}): VNode {
  const percent = fraction === null ? undefined : Math.round(fraction * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      class={percent === undefined ? "progress unknown" : "progress"}
    >
      <div style={{ width: `${percent ?? 30}%` }} />
    </div>
  );
}
