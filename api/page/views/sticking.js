/** Keeping the end of a growing text in sight, until the reader scrolls away from it. */

const NEAR = 64; // pixels that still count as the end
const FAR = 240;

/**
 * @param {HTMLElement} scroller
 * @param {HTMLElement} content What grows in it.
 * @param {(far: boolean) => void} tell Called when the end goes out of sight, and when it is back.
 */
export function stickToBottom(scroller, content, tell) {
  let stuck = true;
  let last = 0;
  const distance = () => scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;

  function follow() {
    if (stuck && distance() > 0) scroller.scrollTop = scroller.scrollHeight;
    last = scroller.scrollTop;
    tell(!stuck && distance() > FAR);
  }

  scroller.addEventListener(
    "scroll",
    () => {
      const rest = distance();
      // What grew since does not move the reader up; only the reader does.
      if (rest < NEAR) stuck = true;
      else if (scroller.scrollTop < last) stuck = false;
      last = scroller.scrollTop;
      tell(!stuck && rest > FAR);
    },
    { passive: true },
  );
  const watching = new ResizeObserver(follow);
  watching.observe(content);
  watching.observe(scroller);
  return {
    /** Go to the end and stay there. */
    stick() {
      stuck = true;
      follow();
    },
  };
}
