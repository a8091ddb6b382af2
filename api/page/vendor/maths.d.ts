/** Temml's tree of a formula: elements of MathML, fragments, and texts. */
export interface Branch {
  type?: string;
  attributes?: Record<string, string | number | boolean>;
  classes?: string[];
  style?: Record<string, string | number>;
  children?: Branch[];
  text?: string;
}

/** Read a formula; what it can't read it throws an error for. */
export function treeOf(latex: string, display: boolean): Branch;
