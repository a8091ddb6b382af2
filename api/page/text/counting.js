/** What a run's steps come to, counted from what they told. */

import { gradeOf } from "./grades.js";

/** Count what steps told. @param {Step[]} steps */
export function counts(steps) {
  const sums = {
    searched: false,
    asked: false, // the web, which answered
    read: 0, // selected pages
    sifted: { kept: 0, of: 0 }, // in all rounds together; what comes again counts once
    lastSifted: { kept: 0, of: 0 },
    claims: 0, // that were checked
    /** @type {Map<import("./grades.js").Grade, number>} */
    verdicts: new Map(),
    repaired: 0, // sections, as are those withdrawn
    withdrew: 0,
  };
  const fallbacks = new Set();
  const sifted = new Set();
  /** @type {Map<number, Claim[]>} */
  const checked = new Map();
  for (const event of steps.flatMap((step) => step.told)) {
    // A fallback that later steps depend on is told by them again.
    if ("fallback" in event && event.fallback) fallbacks.add(event.fallback.message);
    switch (event.type) {
      case "sources_found":
        sums.searched ||= event.kind === "search";
        sums.asked ||= event.kind === "web" && !event.servers?.length;
        break;
      case "pages_loaded":
        sums.read += event.used.length + event.cut.length;
        break;
      case "sources_graded": {
        // Each event has the whole list so far.
        const kept = event.sources.length - sums.sifted.kept;
        for (const each of [...event.sources, ...event.dropped]) sifted.add(each.segment_id);
        sums.lastSifted = { kept, of: kept + event.dropped.length };
        sums.sifted = { kept: event.sources.length, of: sifted.size };
        break;
      }
      case "section_checked":
        // It may come twice, with the judge's decisions the second time.
        checked.set(event.section_index, event.claims);
        break;
      case "section_revised":
        if (event.moved) break;
        if (event.text) sums.repaired += 1;
        else sums.withdrew += 1;
        break;
      default:
    }
  }
  for (const claim of [...checked.values()].flat()) {
    const grade = gradeOf(claim);
    sums.claims += 1;
    sums.verdicts.set(grade, (sums.verdicts.get(grade) ?? 0) + 1);
  }
  return { ...sums, fallbacks: fallbacks.size };
}
