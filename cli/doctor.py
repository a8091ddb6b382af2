"""citewell doctor: show the configuration, the origin of each setting, and what can be reached."""

from typing import TYPE_CHECKING

from cli.command import Exit, awaited, settings_for
from cli.console import one_line, print_json, progress_console, result_console
from cli.options import AsJson

if TYPE_CHECKING:
    from cli.checks import Check
    from tools.settings import Settings


@awaited
async def doctor(as_json: AsJson = False) -> Exit:
    """Check what is configured and reachable.

    Also shows where each setting came from, and which family answers. Exits with 5 if something configured can't be
    reached, with 3 if the configuration can't work.
    """
    from cli.checks import all_checks
    from cli.provenance import provenance

    settings = settings_for()
    with progress_console().status("Checking the database") as status:
        checks = [_told(check) async for check in all_checks(settings, status.update)]
    family = family_of(settings)
    if as_json:
        ok = all(check.ok for check in checks)
        print_json({"ok": ok, "answers": family, "checks": checks, "settings": provenance(settings)})
    else:
        _show(family, checks, settings)
    return max((check.exit_code for check in checks), default=Exit.OK)


def _told(check: "Check") -> "Check":
    """Return a check without the credentials that stand in addresses."""
    from dataclasses import replace

    from graph.hidden_credentials import without_credentials

    facts = {name: without_credentials(fact) if isinstance(fact, str) else fact for name, fact in check.facts.items()}
    detail, suggestion = without_credentials(check.detail), without_credentials(check.suggestion)
    return replace(check, detail=detail, suggestion=suggestion, facts=facts)


def family_of(settings: "Settings") -> dict[str, str]:
    """Return the family and model that answer by default; the family "installed" comes from an entry point."""
    from tools.settings import EXTRACTIVE

    name = settings.default_model
    if name == EXTRACTIVE:
        return {"family": "extractive", "model": name}
    configured = name in {model.name for model in settings.models}
    return {"family": "llm" if configured else "installed", "model": name}


def _show(family: dict[str, str], checks: "list[Check]", settings: "Settings") -> None:
    from rich.text import Text

    from cli.provenance import provenance
    from cli.rendering.wrapping import show_indented
    from cli.tables import show_table
    from prompts import lines

    console = result_console()
    console.print(Text.assemble("Questions are answered by the ", (family["family"], "bold"), " family"), end="")
    console.print(
        ": no model, no key, no network." if family["family"] == "extractive" else f" (model {family['model']})."
    )
    if family["family"] == "extractive":
        show_indented(console, Text(lines("en").add_model, style="dim"), 0)
    console.print()
    for check in checks:
        mark = ("✓ ", "bold green") if check.ok else ("✗ ", "bold red")
        console.print(Text.assemble(mark, (check.name, "bold"), "  ", one_line(check.detail)))
        if check.suggestion:
            show_indented(console, Text(one_line(check.suggestion), style="dim"), 2)
    console.print()
    rows = [
        [row.setting, row.value, row.name if row.origin != "default" else "", row.origin]
        for row in provenance(settings)
    ]
    show_table(console, ["Setting", "Value", "Set by", "From"], rows)
