"""Small distributions as an installer would leave them: modules, and metadata with entry points."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tools.backends.backend_registry import installed_backends
from tools.judges.judge_registry import installed_judges
from tools.parsers import formats
from tools.plugins.entry_points import selection

DOCS = Path(__file__).parents[1] / "docs"
ANY = "(?:backend|dialect|format)"
_BLOCK = re.DOTALL | re.MULTILINE


def documented_module(page: str, what: str = ANY) -> str:
    """Return the code of the plugin that a page of the manual shows."""
    return _documented(page, what, r"```python\n(.*?)^```")


def documented_entry_points(page: str, what: str = ANY) -> str:
    """Return the entry points that a page of the manual shows in a ``pyproject.toml``, as metadata spell them."""
    named = _documented(page, what, r"```toml\n\[project\.entry-points\.(.*?)^```")
    return f"[{named}".replace('"', "")


def _documented(page: str, what: str, block: str) -> str:
    found = re.search(rf"^#+ Add a {what}$.*?{block}", (DOCS / page).read_text(encoding="utf-8"), _BLOCK)
    assert found is not None, page
    return found[1]


def install_documented(site: Path, page: str, what: str = ANY) -> None:
    """Install the plugin that a page of the manual shows; ``what`` it is where the page shows several."""
    entry_points = documented_entry_points(page, what)
    module = entry_points.partition("= ")[2].partition(":")[0]
    install(site, module.replace("_", "-"), {module: documented_module(page, what)}, entry_points)


def install(site: Path, name: str, modules: Mapping[str, str], entry_points: str) -> None:
    """Put a distribution of version 1.0 into a folder of packages."""
    metadata = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for module, code in modules.items():
        (site / f"{module}.py").write_text(code, encoding="utf-8")
    selection.cache_clear()


def forget_plugins() -> None:
    """Have parsers, backends and judges looked for anew."""
    formats.cache_clear()
    installed_backends.cache_clear()
    installed_judges.cache_clear()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose distributions count as installed in this process."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    forget_plugins()
    yield folder
    forget_plugins()
