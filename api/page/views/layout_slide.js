/** A slide as it is seen: its boxes and pictures where they stand, in a frame of its proportions. */

import { h } from "../dom.js";

/** @typedef {Wire.LayoutSlide["boxes"][number]} SlideBox */

/** Make the frame of a slide, with a place for each box. @param {Wire.LayoutSlide} slide */
export function slideFrame({ ratio, boxes }) {
  /** @type {Map<object, HTMLElement>} */
  const places = new Map(boxes.map((box) => [box, placeOf(box)]));
  const element = h("div", { class: "slide" }, ...places.values());
  element.style.aspectRatio = String(ratio);
  return {
    element,
    /** Give the place of a box. @param {object | undefined} box */
    at: (box) => box && places.get(box),
    /** Give the place of a picture. @param {number} number */
    ofPicture: (number) => places.get(boxes.find(({ picture }) => picture === number) ?? {}),
  };
}

/** @param {SlideBox} box */
function placeOf({ left, top, width, height, size, picture }) {
  const place = h("div", { class: picture === null ? "box" : "box pictured" });
  const share = (/** @type {number} */ part) => `${100 * part}%`;
  Object.assign(place.style, { left: share(left), top: share(top), width: share(width), minHeight: share(height) });
  if (picture !== null) place.style.height = share(height);
  else place.style.fontSize = `${100 * size}cqw`;
  return place;
}
