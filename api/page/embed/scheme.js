/** Light or dark, as the page around is: whatever way it has to switch, its background tells. */

const DARK = 128; // of 255

/**
 * Keep an element's attribute `data-scheme` as the page is, or as `theme` says once and for all.
 * @param {HTMLElement} host
 * @param {string | undefined} theme
 */
export function followScheme(host, theme) {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const show = () => {
    host.dataset["scheme"] = theme === "light" || theme === "dark" ? theme : brightness(host, context) < DARK ? "dark" : "light";
  };
  show();
  const watched = new MutationObserver(show);
  for (const element of [document.documentElement, document.body]) watched.observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}

/** Tell how bright the ground is that an element stands on. @param {HTMLElement} host @param {CanvasRenderingContext2D | null} context */
function brightness(host, context) {
  const body = document.body;
  for (let element = host.parentElement === document.documentElement ? body : host.parentElement; element && context; element = element.parentElement) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(element).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, opacity = 0] = context.getImageData(0, 0, 1, 1).data;
    if (opacity > DARK) return 0.299 * red + 0.587 * green + 0.114 * blue;
  }
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark") && matchMedia("(prefers-color-scheme: dark)").matches;
  return dark ? 0 : 255;
}
