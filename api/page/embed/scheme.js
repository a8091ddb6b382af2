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
    const seen = brightness(host, context) < DARK ? "dark" : "light";
    host.dataset["scheme"] = theme === "light" || theme === "dark" ? theme : seen;
  };
  show();
  const watched = new MutationObserver(show);
  for (const element of [document.documentElement, document.body]) watched.observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
}

/** Tell how bright the ground is that an element stands on.
 * @param {HTMLElement} host @param {CanvasRenderingContext2D | null} context */
function brightness(host, context) {
  const { body, documentElement: root } = document;
  let element = host.parentElement === root ? body : host.parentElement;
  for (; element && context; element = element.parentElement) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = getComputedStyle(element).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, opacity = 0] = context.getImageData(0, 0, 1, 1).data;
    if (opacity > DARK) return 0.299 * red + 0.587 * green + 0.114 * blue;
  }
  const may = getComputedStyle(root).colorScheme.includes("dark");
  return may && matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 255;
}
