/**
 * A picture of a document. It is read as a document is, with the reader's own credentials, and drawn on a canvas: no
 * address of it stands in the page, and nothing but the raster formats that the server gives is decoded.
 */

import { h } from "../dom.js";
import { words } from "../words/index.js";

const WIDEST = 1600; // pixels of what is drawn

/**
 * Make a picture; it is read once it comes near.
 * @param {Wire.LayoutPicture} picture
 * @param {(number: number) => Promise<Blob>} read
 */
export function layoutPicture({ number, alt, width, height }, read) {
  const failed = alt ? words.viewer.pictureFailedOf({ alt }) : words.viewer.pictureFailed;
  if (!width) return h("p", { class: "picture missing", dir: "auto" }, failed);
  const scale = Math.min(1, WIDEST / width);
  const canvas = h("canvas", {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
    role: "img",
    "aria-label": alt || words.viewer.picture,
  });
  const element = h("figure", { class: "picture" }, canvas);
  const near = new IntersectionObserver((seen) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    near.disconnect();
    void draw();
  }, { rootMargin: "600px" });
  near.observe(canvas);

  async function draw() {
    try {
      const options = /** @type {ImageBitmapOptions} */ ({ resizeWidth: canvas.width, resizeHeight: canvas.height, resizeQuality: "high" });
      const bitmap = await createImageBitmap(await read(number), options);
      canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
      bitmap.close();
    } catch {
      element.replaceChildren(h("p", { class: "missing", dir: "auto" }, failed));
    }
  }
  return element;
}
