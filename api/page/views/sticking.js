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
  let [top, most] = [0, 0];
  const end = () => scroller.scrollHeight - scroller.clientHeight;

  function follow() {
    const place = Math.min(end(), head?.isConnected ? placeOf(head) : Infinity);
    if (following && Math.abs(place - scroller.scrollTop) >= 1) scroller.scrollTop = place;
    note();
  }

  function note() {
    [top, most] = [scroller.scrollTop, end()];
    tell(following && head === null ? 0 : most - top);
  }

  /** @param {Element} element */
  function placeOf(element) {
    return scroller.scrollTop + element.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  }

  scroller.addEventListener(
    "scroll",
    () => {
      // A text that shrinks moves its end up; the reader does anything else.
      const own = scroller.scrollTop === top || (end() < most && end() - scroller.scrollTop < 1);
      if (!own) {
        head = null;
        following = end() - scroller.scrollTop < NEAR && scroller.scrollTop >= top;
      }
      note();
    },
    { passive: true },
  );
  // Whoever handles something in the text has come to it: it stays where it is, whatever opens.
  for (const name of ["pointerdown", "keydown"]) content.addEventListener(name, () => (following = false));
  const watching = new ResizeObserver(follow);
  watching.observe(content);
  watching.observe(scroller);
  return {
    /** Follow the end as long as this stays in sight. @param {Element | null} element */
    keep(element) {
      head = element;
      following = true;
      follow();
    },
    /** Go to the end and stay there. */
    stick() {
      head = null;
      following = true;
      follow();
    },
  };
}
