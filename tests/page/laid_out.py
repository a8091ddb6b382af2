"""Where things stand on the page, as the browser measures it: what has the free room, what scrolls, what is cut."""

from itertools import pairwise
from typing import Any

from playwright.async_api import Page

MEASURED = """
() => {
  const main = document.querySelector("main");
  const rows = [...main.querySelectorAll(".topbar, .connection:has(.told:not(:empty)), .conversation, .composer")];
  const box = (each) => {
    const { top, bottom } = each.getBoundingClientRect();
    return { top, bottom, height: each.clientHeight, needs: each.scrollHeight };
  };
  const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.scrollingElement;
  return {
    sheet: [scrollHeight - clientHeight, scrollWidth - clientWidth],
    rows: rows.map(box),
    question: main.querySelector(".question")?.getBoundingClientRect().top,
    skips: document.querySelector(".skips").getBoundingClientRect().bottom,
    window: innerHeight,
  };
}
"""
# A text that ends outside of what it stands in has to begin inside, and to end in an ellipsis, which a browser draws in
# boxes of lines alone: in a flexible one the text is cut at both ends, or where it falls.
CUT = """
() => {
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility() || parent.closest(".seen-by-readers-only, .wide-only")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    let { left, right } = range.getBoundingClientRect();
    for (let each = parent; each && left < right; each = each.parentElement) {
      const { overflowX, textOverflow, display, direction } = getComputedStyle(each);
      if (overflowX !== "hidden" && overflowX !== "clip") {
        if (overflowX === "visible") continue;
        break;
      }
      const box = each.getBoundingClientRect();
      const before = direction === "rtl" ? right - box.right : box.left - left;
      const after = direction === "rtl" ? box.left - left : right - box.right;
      const told = textOverflow === "ellipsis" && /^(inline-)?block$/.test(display);
      if (before > 1 || (after > 1 && !told)) faults.push(`${each.className}: ${text.data}`);
      left = Math.max(left, box.left);
      right = Math.min(right, box.right);
    }
  }
  return faults;
}
"""
ELLIPSES = """(elements) => elements.filter((each) =>
  each.scrollWidth > each.clientWidth && getComputedStyle(each).textOverflow === "ellipsis").length"""


async def laid_out(page: Page) -> dict[str, Any]:
    """Measure the page; see that the conversation has what the bars leave, and that no more scrolls or peeks in."""
    measured: dict[str, Any] = await page.evaluate(MEASURED)
    assert max(measured["sheet"]) <= 0, measured
    assert measured["skips"] <= 0, measured
    rows = measured["rows"]
    assert rows[0]["top"] == 0, measured
    assert abs(rows[-1]["bottom"] - measured["window"]) < 1, measured
    assert all(abs(lower["top"] - upper["bottom"]) < 1 for upper, lower in pairwise(rows)), measured
    measured["bars"] = rows[1:-2]
    assert all(bar["needs"] <= bar["height"] for bar in measured["bars"]), measured
    return measured


async def cut_texts(page: Page) -> list[str]:
    """List the texts in sight that are cut without an ellipsis, or at their beginning, each behind what cuts it."""
    faults: list[str] = await page.evaluate(CUT)
    return faults


async def shortened(page: Page, selector: str) -> int:
    """Count the elements whose text ends in an ellipsis."""
    count: int = await page.locator(selector).evaluate_all(ELLIPSES)
    return count
