"""The page's icons as pictures: ``python -m bench.icons`` draws ``api/page/icon-*.png`` from ``api/page/icon.svg``.

Systems that install the page as an app want PNG. A maskable icon fills its square, since a system cuts its own shape.
"""

import asyncio
import tempfile
from pathlib import Path

from bench.browser import launched

PAGE = Path(__file__).parents[1] / "api" / "page"
ROUNDED = ' rx="8"'
ICONS = {"icon-192": (192, False), "icon-512": (512, False), "icon-maskable-512": (512, True)}


def main() -> None:
    """Draw all icons."""
    with tempfile.TemporaryDirectory(prefix="citewell-icons-") as folder:
        asyncio.run(_draw_all(Path(folder)))


async def _draw_all(home: Path) -> None:
    drawing = (PAGE / "icon.svg").read_text("utf-8")
    async with launched(home) as browser:
        for name, (side, is_maskable) in ICONS.items():
            page = await browser.new_page(viewport={"width": side, "height": side})
            shown = drawing.replace(ROUNDED, "") if is_maskable else drawing
            await page.set_content(f"<style>body{{margin:0;background:none}}svg{{display:block}}</style>{shown}")
            path = PAGE / f"{name}.png"
            await page.screenshot(path=path, omit_background=True)
            await page.close()
            print(path.relative_to(PAGE.parents[1]))


if __name__ == "__main__":
    main()
