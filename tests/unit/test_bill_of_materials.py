"""The bills of materials of the wheel and the image: all that the locks and the page's files name, and no more."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements/runtime.txt").read_text("utf-8")
LOCKED = set(re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE))
BUILDS = {"editables", "hatchling", "pathspec", "pluggy", "trove-classifiers"}  # nothing of Citewell imports them


@pytest.fixture(scope="module")
def bills(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("dist")
    main = runpy.run_path(str(ROOT / "requirements/sbom.py"))["main"]
    main(folder)
    first = {file.name.split(".")[-3]: file.read_text("utf-8") for file in folder.iterdir()}
    main(folder)
    assert first == {file.name.split(".")[-3]: file.read_text("utf-8") for file in folder.iterdir()}, "the same again"
    return {kind: json.loads(text) for kind, text in first.items()}


def names(bill: dict[str, Any], beginning: str) -> set[str]:
    purls = [each["purl"] for each in bill["components"]]
    return {purl.removeprefix(beginning).rpartition("@")[0] for purl in purls if purl.startswith(beginning)}


def test_each_has_what_is_locked_and_nothing_that_only_builds(bills: dict[str, dict[str, Any]]) -> None:
    assert bills.keys() == {"wheel", "image"}
    assert names(bills["wheel"], "pkg:pypi/") == LOCKED - BUILDS
    assert names(bills["image"], "pkg:pypi/") < LOCKED - BUILDS
    assert LOCKED - BUILDS - names(bills["image"], "pkg:pypi/") >= {"pywin32", "colorama"}
    assert names(bills["image"], "pkg:docker/") == {"python"}
    for bill in bills.values():
        assert {"pdfjs-dist", "micromark", "temml"} <= names(bill, "pkg:npm/")
        assert {"postgresql", "pgvector"} <= {each["name"] for each in bill["components"]}


def test_each_is_whole_by_the_rules_of_its_format(bills: dict[str, dict[str, Any]]) -> None:
    for bill in bills.values():
        assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
        root = bill["metadata"]["component"]["bom-ref"]
        refs = [each["bom-ref"] for each in bill["components"]]
        assert len(set(refs)) == len(refs)
        assert bill["dependencies"] == [{"ref": root, "dependsOn": refs}]
        for each in bill["components"]:
            assert each["version"]
            if each["purl"].startswith("pkg:pypi/"):
                [told] = each["externalReferences"]
                assert all(re.fullmatch("[0-9a-f]{64}", found["content"]) for found in told["hashes"])
                assert told["hashes"]
