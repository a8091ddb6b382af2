/** Where a popover stands: beside what opened it, within the window. */

const GAP = 6;
const MARGIN = 8;
const LEAST = 160; // pixels of height; where there is less on either side, it stands over what opened it

/**
 * Place a popover below or above a button.
 * @param {HTMLElement} popover
 * @param {HTMLElement} button
 * @returns {boolean} Whether the button is in sight.
 */
export function place(popover, button) {
  const box = button.getBoundingClientRect();
  const around = button.closest(".conversation")?.getBoundingClientRect();
  const [top, bottom] = [Math.max(0, around?.top ?? 0), Math.min(innerHeight, around?.bottom ?? innerHeight)];
  if (box.bottom < top || box.top > bottom) return false;
  popover.style.maxHeight = `${innerHeight - 2 * MARGIN}px`;
  const [above, below] = [box.top - GAP - MARGIN, innerHeight - box.bottom - GAP - MARGIN];
  const wanted = popover.offsetHeight;
  const under = below >= wanted || below >= above;
  const height = Math.min(wanted, Math.max(under ? below : above, LEAST));
  const y = under ? box.bottom + GAP : box.top - GAP - height;
  const x = box.left + box.width / 2 - popover.offsetWidth / 2;
  popover.style.maxHeight = `${height}px`;
  popover.style.top = `${within(y, innerHeight - height)}px`;
  popover.style.left = `${within(x, document.documentElement.clientWidth - popover.offsetWidth)}px`;
  return true;
}

/** @param {number} wanted @param {number} room */
function within(wanted, room) {
  return Math.max(MARGIN, Math.min(wanted, room - MARGIN));
}
