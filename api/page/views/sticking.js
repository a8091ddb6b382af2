/** Following a growing text without taking away what is being read: its beginning first, its end where that is wanted. */

const NEAR = 64; // pixels that still count as the end

/**
 * Keep in sight what is written, as long as the reader lets it.
 * @param {HTMLElement} scroller
 * @param {HTMLElement} content What grows in it.
 * @param {(rest: number) => void} tell Called with how many pixels of it are out of sight, 0 where its end is followed.
 */
export function sticking(scroller, content, tell) {
  /** What stays in sight while the end is followed. @type {Element | null} */
  let head = null;
  let following = true;
  let handled = false;
  let [top, most] = [0, 0];
  const end = () => scroller.scrollHeight - scroller.clientHeight;

  function follow() {
    const away = head?.isConnected ? head.getBoundingClientRect().top - scroller.getBoundingClientRect().top : Infinity;
    const place = Math.min(end(), scroller.scrollTop + away);
    if (following && Math.abs(place - scroller.scrollTop) >= 1) scroller.scrollTop = place;
    note();
  }

  function resume() {
    following = true;
    handled = false;
    follow();
  }

  function note() {
    [top, most] = [scroller.scrollTop, end()];
    tell(following && head === null ? 0 : most - top);
  }

  scroller.addEventListener("scroll", () => {
    // A text that has shrunk meanwhile moves up by itself; the reader does anything else.
    const own = scroller.scrollTop === top || (!handled && end() !== most);
    if (!own) {
      head = null;
      following = end() - scroller.scrollTop < NEAR && scroller.scrollTop >= top;
    }
    note();
  }, { passive: true });
  for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    scroller.addEventListener(name, () => (handled = true), { passive: true });
  }
  // Whoever handles something in the text has come to it: it stays where it is, whatever opens.
  for (const name of ["pointerdown", "keydown"]) content.addEventListener(name, () => (following = false));
  const watching = new ResizeObserver(follow);
  watching.observe(content);
  watching.observe(scroller);
  return {
    /** Follow the end as long as this stays in sight. @param {Element | null} element */
    keep(element) {
      head = element;
      resume();
    },
    /** Go to the end and stay there. */
    stick() {
      head = null;
      resume();
    },
  };
}
