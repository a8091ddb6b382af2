/** The claims of a section: each wrapped in its grade, with its marks and signs right behind its end. */

import { h } from "../dom.js";
import { gradeOf, markOf } from "../text/grades.js";
import { numbersOf } from "../text/numbering.js";
import { continues } from "../text/runs.js";
import { badge, marker } from "./marker.js";

/**
 * Dress a section's text in its claims.
 * @param {App} app
 * @param {Claim[]} claims
 * @param {(index: number) => import("./marker.js").Standing} standing
 * @returns {import("../text/markup.js").Dress}
 */
export function dressOf(app, claims, standing) {
  /** @type {HTMLElement[][]} */
  const pieces = claims.map(() => []);
  const piecesOf = (/** @type {number} */ index) => /** @type {HTMLElement[]} */ (pieces[index]);
  return {
    spans: claims,
    wrap(index) {
      const piece = h("span", { class: `claim ${gradeOf(/** @type {Claim} */ (claims[index]))}` });
      piecesOf(index).push(piece);
      return piece;
    },
    behind(index) {
      const claim = /** @type {Claim} */ (claims[index]);
      if (continues(claim, claims[index + 1])) return [];
      const [mark, grade] = [markOf(claim), gradeOf(claim)];
      const numbers = numbersOf(standing(index)().answer);
      const numberOf = (/** @type {number} */ source) => numbers.get(source) ?? source;
      const cited = new Set(mark === "shown" ? claim.citations.map((citation) => citation.source_index) : []);
      const sources = [...cited].sort((one, other) => numberOf(one) - numberOf(other));
      let first = index;
      while (first && continues(/** @type {Claim} */ (claims[first - 1]), claims[first])) first -= 1;
      const shown = pieces.slice(first, index + 1).flat();
      const markers = sources.map((source) => marker(app, source, standing(index), shown));
      const needsNone = mark === "pending" || ["supported", "quoted", "checked"].includes(grade) || isAlike(claim, claims[index + 1]);
      let alike = index;
      while (!needsNone && alike && isAlike(claims[alike - 1], claim)) alike -= 1;
      const signs = needsNone ? [] : [badge(standing(index), pieces.slice(alike, index + 1).flat())];
      // The joiner keeps them on the line on which the claim ends.
      return markers.length || signs.length ? [h("span", { class: "behind" }, JOINER, markers, signs)] : [];
    },
  };
}

/** Tell whether the next claim is in doubt for the same reasons, so that one sign serves both. @param {Claim | undefined} claim @param {Claim | undefined} following */
function isAlike(claim, following) {
  return claim?.verdict === following?.verdict && String(claim?.reasons) === String(following?.reasons) && claim?.judge?.says === following?.judge?.says;
}

const JOINER = "\u2060";

/**
 * Write down all of claims that is shown of them, so that two readings of an answer can be compared.
 * @param {Claim[] | null} claims
 */
export function traitsOf(claims) {
  const traits = (claims ?? []).map(({ start, end, verdict, by, judge, mark, reasons, citations }) => {
    const cited = citations.map((each) => {
      const freshness = each.freshness === "fresh" ? undefined : each.freshness;
      return [each.segment_id, each.start, each.end, each.origin, each.source_index, each.highlight?.start, freshness];
    });
    return [start, end, verdict, by, judge?.says, mark, reasons, cited];
  });
  return JSON.stringify(claims && traits);
}
