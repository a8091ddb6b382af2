/** Elements, made and changed without markup: whatever a text says, it stays text. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * Attributes, listeners (`onclick`), `class`, and properties (`.value`). False, null and undefined leave one out.
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */

/**
 * Make an HTML element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...(Child | Child[])} children
 */
export function h(name, attributes, ...children) {
  const element = document.createElement(name);
  if (name === "form") element.addEventListener("submit", (event) => event.preventDefault()); // what sends it is a script
  // A button that sends a form says so.
  change(element, name === "button" ? { type: "button", ...attributes } : attributes ?? {});
  element.append(...present(children.flat()));
  return element;
}

/**
 * Make an element of SVG.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes | null} [attributes]
 * @param {...(Child | Child[])} children
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  change(element, attributes ?? {});
  element.append(...present(children.flat()));
  return element;
}

/**
 * Set or remove attributes, properties and listeners of an element.
 * @param {Element} element
 * @param {Attributes} attributes
 */
export function change(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name.startsWith(".")) Reflect.set(element, name.slice(1), value);
    else if (value === false || value === null || value === undefined) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * Put these children in the place of those that an element has; children and texts that are there already stay as they are.
 * @param {Element} element
 * @param {...(Child | Child[])} children
 */
export function fill(element, ...children) {
  const wanted = present(children.flat());
  const { childNodes } = element;
  const other = wanted.findIndex((child, at) => {
    const there = childNodes[at];
    return typeof child === "string" ? !(there?.nodeName === "#text" && there.nodeValue === child) : there !== child;
  });
  const same = other < 0 ? wanted.length : other;
  if (same < childNodes.length) element.replaceChildren(...wanted);
  else if (same < wanted.length) element.append(...wanted.slice(same));
}

/** @param {Child[]} children */
function present(children) {
  const kept = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    kept.push(typeof child === "number" ? String(child) : child);
  }
  return kept;
}
