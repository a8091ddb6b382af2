/** As much of a document as the renderer asks for, so that what it makes can be compared without a browser. */

class FakeElement {
  constructor(name) {
    this.name = name;
    this.attributes = {};
    this.childNodes = [];
  }

  append(...children) {
    this.childNodes.push(...children);
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  get textContent() {
    return this.childNodes.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }
}

globalThis.document = { createElement: (name) => new FakeElement(name) };

/** Write elements as a short line: `p(one strong(two))`, with `br` and the address of a link. */
export function written(nodes) {
  return nodes
    .map((node) => {
      if (typeof node === "string") return node;
      const { class: kind, href, start } = node.attributes;
      const name = [node.name, kind, href && `<${href}>`, start].filter(Boolean).join(".");
      return node.childNodes.length ? `${name}(${written(node.childNodes)})` : name;
    })
    .join("");
}
