"""citewell serve: serve the HTTP API on one address."""

from typing import Annotated

import typer

from cli.command import Exit, run, settings_for
from cli.options import AsJson

Host = Annotated[str | None, typer.Option(help="The address to listen on; default: CITEWELL_HOST.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The port, 0 for a free one; default: CITEWELL_PORT.")]


def serve(host: Host = None, port: Port = None, as_json: AsJson = False) -> None:
    """Serve the HTTP API until interrupted."""
    import uvloop

    run(_serve(host, port, as_json), as_json=as_json, loop_factory=uvloop.new_event_loop)


async def _serve(host: str | None, port: int | None, as_json: bool) -> Exit:
    from cli.http_server import serve_app

    settings = settings_for()
    overrides = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    await serve_app(settings.model_copy(update=overrides), as_json=as_json)
    return Exit.OK
