/** A document with its headings, lists, tables, slides and pictures, quotes marked where they stand in its text. */

import { fill, h } from "../dom.js";
import { languageOf } from "../text/languages.js";
import { partOf } from "../text/places.js";
import { words } from "../words/index.js";
import { codeOf, elementOf, grouped, linesIn, wholeLines } from "./layout_blocks.js";
import { LaidOutText } from "./layout_text.js";
import { inSlices, pause, revealMarked, Stretches } from "./reader_stretches.js";

/** @typedef {Wire.LayoutSlide["boxes"][number]} SlideBox */

const WIDEST = 1600; // pixels of what is drawn

/** Make the view. @param {Client} client @returns {View} */
export function readerLayout(client) {
  const body = h("div", { class: "body laid-out" });
  const element = h("div", { class: "text", tabindex: 0, role: "region", "aria-label": words.reader.text }, body);
  let text = new LaidOutText([]);

  return {
    element,
    segments: () => text.leaves.map((leaf) => leaf.element),

    async show({ document, raw }, signal) {
      const { document_id: id, media_type: mediaType } = document;
      const layout = await client.layout(id, signal);
      text = new LaidOutText(raw.segments);
      text.formulas = (layout.formulas ?? []).map(({ start, end, ...own }) => ({ ...own, from: text.unit(start), to: text.unit(end) }));
      if (text.formulas.length) {
        const { draw, drawMarkup } = await import("../text/maths.js");
        text.drawn = ({ notation, source }, isAlone) => (notation === "latex" ? draw(source, isAlone) : drawMarkup(source, isAlone));
      }
      fill(body);
      element.scrollTop = 0;
      const slides = new Map((layout.slides ?? []).map((slide) => [slide.page_idx, slide]));
      const folds = layout.folds ?? [];
      const placed = layout.blocks.map((block) => {
        const around = (/** @type {{start: number, end: number}} */ { start, end }) => start <= block.start && block.end <= end;
        const within = slides.get(block.page_idx ?? -1)?.boxes.find(around) ?? folds.find(around);
        return { ...block, within, from: text.unit(block.start), to: text.unit(block.end) };
      });
      const isCode = languageOf(mediaType) !== undefined;
      body.classList.toggle("listing", isCode);
      let line = 1;
      const groups = isCode ? wholeLines(placed, text.text).map((block) => [block]) : grouped(placed, text);
      const pictures = layout.pictures.map((picture) => ({ ...picture, at: text.unit(picture.after) }));
      const part = partOf(mediaType);
      const read = async (/** @type {number} */ number) => (await client.send(`api/documents/${id}/pictures/${number}`, { signal })).blob();
      const stretch = new Stretches(body);
      let page = /** @type {number | null} */ (null);
      /** The slide that is being made. @type {ReturnType<typeof slideFrame> | undefined} */
      let frame;
      const opened = /** @type {Map<object, HTMLElement>} */ (new Map());

      /** @param {number | null} index */
      function turn(index) {
        if (index === null || index === page) return;
        page = index;
        if (part !== "sheet") stretch.element.append(h("h3", { class: "page" }, words.reader[part]({ number: String(index + 1) })));
        const slide = slides.get(index);
        frame = slide && slideFrame(slide);
        if (frame) stretch.element.append(frame.element);
      }

      /** Give where a block stands. @param {Placed} block */
      function placeOf({ within }) {
        const box = frame?.at(within);
        const fold = folds.find((each) => each === within);
        if (box || !fold) return box ?? stretch.element;
        const element = opened.get(fold) ?? h("details", { class: "folded" }, h("summary", null, words.viewer.links({ count: fold.count })));
        if (!opened.has(fold)) stretch.element.append(element);
        opened.set(fold, element);
        return element;
      }

      /** @param {number} upTo */
      function drawPictures(upTo) {
        while (pictures[0] && pictures[0].at <= upTo) {
          const picture = /** @type {Wire.LayoutPicture} */ (pictures.shift());
          turn(picture.page_idx);
          (frame?.ofPicture(picture.number) ?? stretch.element).append(layoutPicture(picture, read));
        }
      }

      stretch.next();
      drawPictures(0);
      const built = inSlices(groups.length, (at) => {
        const group = /** @type {Placed[]} */ (groups[at]);
        const [first] = group;
        const last = group.at(-1);
        if (!first || !last) return;
        stretch.next();
        turn(first.page_idx);
        placeOf(first).append(isCode ? codeOf(first, text, line) : elementOf(group, text));
        line += linesIn(first, text.text);
        stretch.grow(last.to - first.from);
        drawPictures(at === groups.length - 1 ? Infinity : last.to);
      }, signal);
      await Promise.race([built, pause()]);
    },

    mark(passages, current) {
      text.mark(passages, current);
    },

    reveal: (_, signal) => revealMarked(element, text, signal),
  };
}

/** Make the frame of a slide, with a place for each box. @param {Wire.LayoutSlide} slide */
function slideFrame({ ratio, boxes }) {
  /** @type {Map<object, HTMLElement>} */
  const places = new Map(boxes.map((box) => [box, boxOf(box)]));
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
function boxOf({ left, top, width, height, size, picture }) {
  const place = h("div", { class: picture === null ? "box" : "box pictured" });
  const share = (/** @type {number} */ part) => `${100 * part}%`;
  Object.assign(place.style, { left: share(left), top: share(top), width: share(width), minHeight: share(height) });
  if (picture !== null) place.style.height = share(height);
  else place.style.fontSize = `${100 * size}cqw`;
  return place;
}

/** Make a picture; it is read once it comes near.
 * @param {Wire.LayoutPicture} picture @param {(number: number) => Promise<Blob>} read */
function layoutPicture({ number, alt, width, height }, read) {
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
