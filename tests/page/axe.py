"""axe-core in a page: what of it people with a screen reader, a keyboard or weak eyes could not use."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import Page, ViewportSize

from tests.page.browsing import NARROW, WIDE
from tests.wire.node_clients import SKIPPED

SOURCE = Path(__file__).parent / "node" / "node_modules" / "axe-core" / "axe.min.js"
EVERYTHING = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
COLOURS = {"type": "rule", "values": ["color-contrast"]}
SCHEMES: Mapping[Literal["light", "dark"], dict[str, Any]] = {"dark": COLOURS, "light": EVERYTHING}
RUN = """
async (only) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const goes = ({ playState, effect }) => playState === "running" && effect?.getTiming().iterations !== Infinity;
  const moves = () => document.getAnimations().some(goes);
  for (let still = 0; still < 3; still = moves() ? 0 : still + 1) await frame();
  // It would fetch every style sheet again, for a rule about videos, of which the page has none.
  const found = await axe.run(document, { runOnly: only, resultTypes: ["violations"], preload: false });
  return found.violations.flatMap(({ id, nodes }) => nodes.map((node) =>
    `${id}: ${node.target.flat(3).join(" ")} ${node.html.slice(0, 160)} ${[...node.any, ...node.all, ...node.none].map(
      (each) => each.message)}`));
}
"""


async def violations(page: Page, only: dict[str, Any]) -> list[str]:
    """List what axe finds wrong with the page as it stands, by some of its rules."""
    if not await page.evaluate("'axe' in globalThis"):
        # By way of the debugger: the page's own policy lets no other script in.
        await page.evaluate(SOURCE.read_text("utf-8"))
    found: list[str] = await page.evaluate(RUN, only)
    return found


async def accessible(page: Page, view: str, screens: Sequence[ViewportSize] = (WIDE, NARROW)) -> None:
    """Check a view in light and dark, wide and narrow, as it stands in each."""
    if not SOURCE.is_file():
        pytest.skip(f"{SKIPPED}: axe-core")
    faults = []
    size = page.viewport_size
    for viewport in screens:
        await page.set_viewport_size(viewport)
        # What is dark is not otherwise built.
        for scheme, rules in SCHEMES.items():
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            faults += [f"{view}, {viewport['width']}, {scheme}: {fault}" for fault in await violations(page, rules)]
    await page.emulate_media(color_scheme="light", reduced_motion="reduce")
    if size is not None:
        await page.set_viewport_size(size)
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)
