"""Where a run may look, and in which order: rounds of gathering nodes that run side by side."""

from typing import Literal

from graph.context import Context
from graph.state import State

Gathering = Literal["load_selected_pages", "search_segments", "search_web"]


def rounds(state: State, context: Context) -> list[list[Gathering]]:
    """List the rounds of a run; a later one is taken only where those before it kept nothing.

    With ``web: first`` the web is asked before the library, with ``fallback`` after it, with ``also`` beside it. A
    marked passage is loaded in the first round whatever the order. Limited to the selected pages, a run that selects
    none has no library. The list is empty where there is nowhere to look.
    """
    pages: list[Gathering] = ["load_selected_pages"] if state.page_ids or state.selected_text else []
    no_library = context.search == "off" or (context.only_selected_pages and not state.page_ids)
    library: list[Gathering] = [] if no_library else ["search_segments"]
    web: list[Gathering] = ["search_web"] if context.web != "off" and not context.only_selected_pages else []
    if context.web == "first":
        marked: list[Gathering] = pages if state.selected_text else []
        planned = [marked + web, library if marked else pages + library]
    elif context.web == "fallback":
        planned = [pages + library, web]
    else:
        planned = [pages + library + web]
    return [each for each in planned if each]


def searching(state: State, context: Context) -> list[Gathering]:
    """List the nodes that take another query: a page that is read whole has nothing more to give."""
    return [name for names in rounds(state, context) for name in names if name != "load_selected_pages"]
