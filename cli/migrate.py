"""citewell migrate: bring the database up to this release."""

from cli.command import run, settings_for
from cli.console import print_json
from cli.options import AsJson


def migrate(as_json: AsJson = False) -> None:
    """Bring the database up to this release."""
    run(_migrate(as_json), as_json=as_json)


async def _migrate(as_json: bool) -> None:
    from tools.storage.startup import migrate as bring_up_to_date

    done = await bring_up_to_date(settings_for())
    if as_json:
        print_json({"applied": done})
    elif done:
        print("\n".join(f"applied {name}" for name in done))
    else:
        print("The schema is of this release already.")
