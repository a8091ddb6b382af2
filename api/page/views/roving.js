/** A group that is one stop for the Tab key, and is moved through by the arrow keys. */

/**
 * Make a group one stop. What in it was focused last is where the Tab key comes to, or else what `first` finds.
 * @param {HTMLElement} group
 * @param {string} selector Of what can be moved to.
 * @param {{first?: string, vertical?: boolean, ends?: boolean}} [options] Where to begin, whether the keys to the sides do
 *   something else, and whether the arrows stop at the ends.
 */
export function roving(group, selector, { first, vertical = false, ends = false } = {}) {
  /** @returns {HTMLElement[]} */
  const items = () =>
    [.../** @type {NodeListOf<HTMLElement>} */ (group.querySelectorAll(selector))].filter((each) => each.offsetParent !== null);

  /** @param {Element | null | undefined} chosen */
  function choose(chosen) {
    for (const each of group.querySelectorAll(selector)) each.setAttribute("tabindex", each === chosen ? "0" : "-1");
  }

  function settle() {
    const all = /** @type {HTMLElement[]} */ ([...group.querySelectorAll(selector)]);
    const kept = all.find((each) => each === document.activeElement);
    const before = all.find((each) => each.getAttribute("tabindex") === "0" && !each.hidden);
    choose(kept ?? (first ? group.querySelector(first) : null) ?? before ?? all.find((each) => !each.hidden));
  }

  group.addEventListener("focusin", ({ target }) => {
    const item = target instanceof Element ? target.closest(selector) : null;
    if (item instanceof HTMLElement) choose(item);
  });
  group.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = items();
    const at = all.findIndex((each) => each === document.activeElement);
    if (at < 0) return;
    const ahead = vertical ? undefined : getComputedStyle(group).direction === "rtl" ? -1 : 1;
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowRight: ahead && at + ahead,
      ArrowLeft: ahead && at - ahead,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    all.at(ends ? Math.max(0, Math.min(to, all.length - 1)) : to % all.length)?.focus();
  });
  settle();
  return settle;
}
