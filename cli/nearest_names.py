"""Names that a person may have mistyped, told with the nearest one that there is.

Only here: over the API, nobody is told the names of workspaces that are not theirs.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING

from graph.errors import NotFound
from graph.evidence import Identity

if TYPE_CHECKING:
    from tools.library.catalogue import Documents
    from tools.storage.tenants import Workspaces


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the question that names the nearest of the known names; "" where none is near."""
    folded = {each.casefold(): each for each in known}
    found = get_close_matches(name.casefold(), folded, n=1)
    return f"Did you mean {folded[found[0]]!r}?" if found else ""


@asynccontextmanager
async def telling_nearest_workspace(workspaces: "Workspaces") -> AsyncIterator[None]:
    """Add the nearest name to the error of a workspace that there is not. Raises NotFound."""
    from tools.storage.tenants import UnknownWorkspace

    try:
        yield
    except UnknownWorkspace as error:
        asked = did_you_mean(error.name, await workspaces.names())
        raise NotFound(error.message, suggestion=f"{asked} {error.advice}".strip()) from error


async def refuse_unknown_spaces(documents: "Documents", identity: Identity, spaces: Sequence[str]) -> None:
    """Refuse spaces that hold no document which the identity may read. Raises NotFound, with the nearest name."""
    known = await documents.spaces(identity) if spaces else ()
    for space in spaces:
        if space not in known:
            advice = did_you_mean(space, known) or "Leave --space out to search all that you may read."
            raise NotFound(f"space: no document that you may read is in {space!r}.", suggestion=advice)
