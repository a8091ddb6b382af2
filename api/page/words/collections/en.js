/** Collections, cards of documents and mentions, in English. */

export const collections = {
  label: "Collections", make: "A new collection…", put: "Put in a collection",
  name: "Name of the collection", save: "Save", shared: "Share with everybody here", tick: (/** @type {string} */ name) => `Ask ${name} alone`,
  only: (/** @type {string} */ name) => `Show only what is in ${name}`, menu: (/** @type {string} */ name) => `What to do with ${name}`,
  holds: (/** @type {number} */ count) => (count === 1 ? "1 document" : `${count} documents`),
  by: (/** @type {string} */ who) => `shared by ${who}`, forAll: "shared",
  ticked: (/** @type {number} */ count) => (count === 1 ? "1 collection" : `${count} collections`),
  edit: "Name and share…", takeOut: "Take the ticked documents out", delete: "Delete the collection",
  added: (/** @type {string} */ name) => `Put in ${name}.`, takenOut: (/** @type {string} */ name) => `Taken out of ${name}.`,
  deleted: (/** @type {string} */ name) => `The collection ${name} is deleted. Its documents are still there.`,
  back: (/** @type {string} */ name) => `The collection ${name} is back.`,
  card: {
    rename: "Rename", title: "Title", read: "Read", alone: "Ask this document alone",
    contents: "Contents", page: "The first page",
    added: "Added", changed: "Changed", by: (/** @type {string} */ when, /** @type {string} */ who) => `${when}, by ${who}`,
    you: "you", kind: "Kind", file: "File", pages: (/** @type {string} */ count) => `${count} pages`,
  },
  mention: {
    label: "Documents and collections",
    found: (/** @type {number} */ count) => (count === 1 ? "1 found. Arrow keys choose." : `${count} found. Arrow keys choose.`),
    none: "Nothing is called so.", collection: "Collection", chosen: (/** @type {string} */ name) => `${name} is asked alone.`,
  },
};
