"""Where things stand on the page, as the browser measures it: what has the free room, what scrolls."""

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
