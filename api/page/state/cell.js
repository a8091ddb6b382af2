/** A value that tells those who watch it when it changes. */

/** Holds a value, and tells each new one. @template T */
export class Cell {
  /** @param {T} value */
  constructor(value) {
    this.value = value;
    /** @type {Set<(value: T) => void>} */
    this.watchers = new Set();
  }

  /** @param {T} value */
  set(value) {
    if (value === this.value) return;
    this.value = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  /** @param {(value: T) => T} change */
  update(change) {
    this.set(change(this.value));
  }

  /** Tell the value now and whenever it changes. @param {(value: T) => void} watcher @returns {() => void} Stops it. */
  watch(watcher) {
    this.watchers.add(watcher);
    watcher(this.value);
    return () => void this.watchers.delete(watcher);
  }
}
