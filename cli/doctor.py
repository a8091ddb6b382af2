"""citewell doctor: show the configuration, the origin of each setting, and what can be reached."""

from typing import TYPE_CHECKING

from cli.command import Exit, run, settings_for
from cli.console import print_json, progress_console, result_console
from cli.options import AsJson

if TYPE_CHECKING:
    from cli.checks import Check
    from tools.settings import Settings


def doctor(as_json: AsJson = False) -> None:
    """Check what is configured and reachable.

    Also shows where each setting came from, and which family answers. Exits with 5 if something configured can't be
    reached, with 3 if the configuration can't work.
    """
    run(_doctor(as_json), as_json=as_json)


async def _doctor(as_json: bool) -> Exit:
    from cli.checks import (
        check_database,
        check_embedding,
        check_judges,
        check_login,
        check_mcp_server,
        check_milvus,
        check_model,
        check_originals,
        check_other_names,
        check_plugins,
        check_prices,
        check_reranker,
        check_retired,
    )
    from cli.provenance import provenance

    settings = settings_for()
    progress = progress_console()
    checks = []
    with progress.status("Checking the database") as status:
        checks.append(await check_database(settings))
        status.update("Checking the embedding model")
        checks.append(await check_embedding(settings))
        for model in settings.models:
            status.update(f"Checking the model {model.name}")
            checks.append(await check_model(model))
        status.update("Checking judges")
        checks += await check_judges(settings)
        if settings.milvus.url:
            status.update("Checking Milvus")
            checks.append(await check_milvus(settings))
        if settings.reranker.base_url:
            status.update("Checking the reranker")
            checks.append(await check_reranker(settings))
        for server in settings.mcp_search:
            status.update(f"Checking the MCP server {server.name}")
            checks.append(await check_mcp_server(server))
        if settings.spending.prices:
            checks.append(check_prices(settings))
        if settings.oidc.issuer:
            status.update("Checking the issuer of logins")
            checks.append(await check_login(settings))
        if settings.originals not in ("postgresql", "off"):
            status.update("Checking the store of originals")
            checks.append(await check_originals(settings))
        status.update("Checking plugins")
        checks += check_plugins(settings)
        checks += check_other_names()
        checks += check_retired(settings)
    family = family_of(settings)
    if as_json:
        print_json(
            {
                "ok": all(check.ok for check in checks),
                "answers": family,
                "checks": checks,
                "settings": provenance(settings),
            }
        )
    else:
        _show(family, checks, settings)
    return max((check.exit_code for check in checks), default=Exit.OK)


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
    from cli.tables import one_line, show_table

    console = result_console()
    console.print(Text.assemble("Questions are answered by the ", (family["family"], "bold"), " family"), end="")
    console.print(
        ": no model, no key, no network." if family["family"] == "extractive" else f" (model {family['model']})."
    )
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
