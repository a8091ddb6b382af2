"""Lay out a corpus of real files in ten formats from Debian's packages.

``python -m research.fidelity.debian_files FOLDER`` fetches the packages with apt, one at a time, and keeps a few
files of each format. Debian has few office files: others are made of what was kept, by pandoc and LibreOffice. It goes
on where it stopped. The files have licences of their own, which the packages carry.
"""

import argparse
import gzip
import hashlib
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

MOST = {  # of a format: in all, and of one package
    ".pdf": (90, 6),
    ".html": (45, 2),
    ".md": (20, 2),
    ".csv": (20, 4),
    ".epub": (20, 4),
    ".docx": (40, 14),
    ".odt": (30, 8),
    ".rtf": (25, 8),
    ".pptx": (30, 10),
    ".odp": (25, 6),
    ".xlsx": (40, 14),
    ".ods": (30, 14),
}
TEMPLATES = {".ott": ".odt", ".otp": ".odp", ".ots": ".ods", ".dotx": ".docx", ".potx": ".pptx", ".xltx": ".xlsx"}
MADE = (  # of files of a format, files of another, by a program, at most
    (".md", ".docx", "pandoc", 8),
    (".md", ".pptx", "pandoc", 10),
    (".md", ".rtf", "pandoc", 4),
    (".html", ".odt", "pandoc", 8),
    (".epub", ".docx", "pandoc", 4),
    (".odt", ".docx", "soffice", 10),
    (".odt", ".rtf", "soffice", 8),
    (".docx", ".rtf", "soffice", 8),
    (".docx", ".odt", "soffice", 6),
    (".xlsx", ".ods", "soffice", 16),
    (".pptx", ".odp", "soffice", 14),
)
LEAST_BYTES, MOST_BYTES = 500, 6_000_000
PACKAGES = Path(__file__).with_name("packages.txt").read_text().split()


def lay_out(folder: Path, packages: Sequence[str] = PACKAGES) -> Counter[str]:
    """Fetch packages and keep files of each format below ``folder``; return how many there are of each suffix."""
    done = folder / "packages"
    done.mkdir(parents=True, exist_ok=True)
    files = [path for path in folder.glob("*/*") if path.suffix in MOST]
    held = Counter(path.suffix for path in files)
    seen = {_digest(path.read_bytes()) for path in files}
    for package in packages:
        if (done / package).exists() or all(held[suffix] >= most for suffix, (most, _) in MOST.items()):
            continue
        with tempfile.TemporaryDirectory() as unpacked:
            if _unpack(package, Path(unpacked)):
                held.update(_keep(Path(unpacked), folder, package, held, seen))
        (done / package).touch()
    return held


def _unpack(package: str, into: Path) -> bool:
    fetched = subprocess.run(["apt-get", "download", package], cwd=into, capture_output=True, timeout=600)
    archives = list(into.glob("*.deb"))
    if fetched.returncode or not archives:
        return False
    subprocess.run(["dpkg-deb", "-x", archives[0].name, "."], cwd=into, check=True)
    return True


def _keep(unpacked: Path, folder: Path, package: str, held: Counter[str], seen: set[str]) -> Counter[str]:
    kept: Counter[str] = Counter()
    for path in sorted(unpacked.rglob("*"), key=_order):
        name = path.name.removesuffix(".gz")
        suffix = Path(name).suffix.lower()
        suffix = TEMPLATES.get(suffix, suffix)
        if suffix not in MOST or path.is_symlink() or not path.is_file():
            continue
        most, of_package = MOST[suffix]
        if kept[suffix] >= of_package or held[suffix] + kept[suffix] >= most or path.stat().st_size > MOST_BYTES:
            continue
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if not LEAST_BYTES <= len(data) <= MOST_BYTES or _digest(data) in seen:
            continue
        seen.add(_digest(data))
        place = folder / suffix[1:] / f"{package}--{Path(name).stem}{suffix}"
        place.parent.mkdir(exist_ok=True)
        if not place.exists():
            place.write_bytes(data)
            kept[suffix] += 1
    return kept


def make(folder: Path) -> None:
    """Make office files of files of other formats."""
    for source, target, program, most in MADE:
        files = sorted((folder / source[1:]).glob(f"*{source}"), key=_order)
        for path in files[:most]:
            place = folder / target[1:] / f"made-{source[1:]}--{path.stem}{target}"
            if place.exists():
                continue
            place.parent.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory() as out:
                command = ["soffice", "--headless", "--convert-to", target[1:], "--outdir", out, str(path)]
                if program == "pandoc":
                    command = ["pandoc", "-s", "-o", f"{out}/{path.stem}{target}", str(path)]
                subprocess.run(command, capture_output=True, timeout=120)
                for file in Path(out).glob(f"*{target}"):
                    shutil.move(file, place)


def _order(path: Path) -> str:
    """Return a key that mixes the files of a package, the same way each time."""
    return _digest(path.name.encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def main() -> None:
    """Fetch what is not there yet, and show how many files there are."""
    parser = argparse.ArgumentParser(description="Lay out real files of ten formats from Debian's packages.")
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    lay_out(folder)
    make(folder)
    print(dict(Counter(path.suffix for path in folder.glob("*/*") if path.suffix in MOST)))


if __name__ == "__main__":
    main()
