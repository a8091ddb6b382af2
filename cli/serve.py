"""citewell serve: serve the HTTP API on one address."""

from typing import Annotated

import typer

from cli.command import Exit, run, settings_for
from cli.options import AsJson, WorkspaceName

Host = Annotated[str | None, typer.Option(help="The address to listen on; default: CITEWELL_HOST.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="The port, 0 for a free one; default: CITEWELL_PORT.")]


def serve(host: Host = None, port: Port = None, workspace: WorkspaceName = None, as_json: AsJson = False) -> None:
    """Serve the page and the HTTP API until interrupted.

    Without authentication, requests choose among all workspaces and are served in this one if they choose none.
    """
    import uvloop

    run(_serve(host, port, workspace, as_json), as_json=as_json, loop_factory=uvloop.new_event_loop)


async def _serve(host: str | None, port: int | None, workspace: str | None, as_json: bool) -> Exit:
    from cli.http_server import serve_app

    settings = settings_for(workspace)
    overrides = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    await serve_app(settings.model_copy(update=overrides), as_json=as_json)
    return Exit.OK
