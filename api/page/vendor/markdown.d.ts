/** The tree of a text in Markdown, as far as the page shows it; every node knows where it is in the text, in UTF-16. */

interface Placed {
  position: { start: { offset: number }; end: { offset: number } };
}

interface Parent {
  children: Node[];
}

export type Node = Placed &
  (
    | ({ type: "root" | "paragraph" | "blockquote" | "emphasis" | "strong" | "delete" | "tableRow" | "tableCell" } & Parent)
    | ({ type: "heading"; depth: number } & Parent)
    | ({ type: "list"; ordered: boolean; start: number | null } & Parent)
    | ({ type: "listItem"; checked: boolean | null } & Parent)
    | ({ type: "table"; align: ("left" | "right" | "center" | null)[] } & Parent)
    | ({ type: "link"; url: string } & Parent)
    | { type: "text" | "inlineCode" | "code"; value: string }
    | { type: "formula"; value: string; display: boolean; open: boolean }
    | { type: "break" | "thematicBreak" | "image" | "imageReference" | "linkReference" | "html" | "definition" }
  );

/** Parse a text; where it is growing, a formula at its end may be open. */
export function parse(text: string, growing?: boolean): Node & { type: "root" };

/** Close what the end of a text leaves open, such as `**bold`, so that it shows its form while it is being written. */
export function close(text: string): string;
