"""Where a library lives if no setting says so: with its user, not in the folder that the user stands in."""

import hashlib
import os
from pathlib import Path

from platformdirs import user_data_path

STATE_DIR = Path("/var/lib/citewell")
PRIVATE = "data-"  # begins the name of a folder there that stands for a private one
IN_PLACE = Path(".citewell")  # where releases up to 0.1 kept the library, below the working folder


def default_data_dir() -> Path:
    """Return the data folder of a deployment that sets none; nothing is created.

    It is an existing ``.citewell`` of the working folder, else the user's own folder for data. Root has none of its
    own: PostgreSQL runs as another account then, and must not need root's home opened, so it is ``/var/lib/citewell``.
    """
    if has_library(IN_PLACE):
        return IN_PLACE.absolute()
    return STATE_DIR if os.geteuid() == 0 else user_data_path("citewell")


def is_in_place(data_dir: Path) -> bool:
    """Whether a data folder is the working folder's own ``.citewell``."""
    return data_dir.absolute() == IN_PLACE.absolute()


def has_library(data_dir: Path) -> bool:
    """Whether a data folder, or the one that stands for it where root's is private, holds a database."""
    folder = data_dir.resolve() / "postgres"
    places = (folder, private_replacement(folder)) if os.geteuid() == 0 else (folder,)
    return any(os.path.isdir(place) for place in places)


def private_replacement(folder: Path) -> Path:
    """Return the folder that stands for a data folder which the server's account can't reach."""
    digest = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    return STATE_DIR / f"{PRIVATE}{digest}" / "postgres"
