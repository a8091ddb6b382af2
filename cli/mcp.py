"""citewell mcp: serve the library to an MCP client over stdin and stdout."""

from cli.command import Exit, identity_of, opened, run, settings_for
from cli.options import UserName, WorkspaceName


def mcp(workspace: WorkspaceName = None, user: UserName = None) -> None:
    """Serve the library to an MCP client, such as an assistant on this machine, over stdin and stdout.

    The client starts this command; what is not of the protocol goes to stderr.
    """
    run(_mcp(workspace, user), as_json=False)


async def _mcp(workspace: str | None, user: str | None) -> Exit:
    from mcp.server.stdio import stdio_server

    from api.mcp.server import create_server
    from api.mcp.tools import Toolbox
    from api.routes.verify_routes import VerificationSlots

    settings = settings_for(workspace, user)
    identity = identity_of(settings)
    # The streams are taken first, so that nothing that opening prints can end up among the messages.
    async with stdio_server() as (incoming, outgoing), opened(settings) as citewell:
        await citewell.library.workspaces.ensure(identity.workspace)
        box = Toolbox(citewell, settings, VerificationSlots(settings.runs))
        server = create_server(lambda: box, lambda _: identity)
        await server.run(incoming, outgoing, server.create_initialization_options())
    return Exit.OK
