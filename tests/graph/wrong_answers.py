"""Answers in which one section holds and another does not, and a model that fails when asked to mend it."""

from graph.errors import ModelUnavailable
from graph.ports import Revision
from tests.fakes import ScriptedFamily, quote

GOOD = quote("Staff get 25 days of annual leave.", "handbook:0")
WRONG_TEXT = "Salaries are paid on the 21st."
WRONG = quote(WRONG_TEXT, "handbook:1")
RIGHT = Revision(1, "Salaries are paid on the 28th.", ("handbook:1",))
QUESTION = "staff get days of annual salaries are paid"
IN_PART = "Salaries are paid on the 28th. Salaries are paid on the 21st."


def writer(*revisions: list[Revision], wrong: str = WRONG_TEXT) -> ScriptedFamily:
    """Script a first section that holds and a second that does not."""
    return ScriptedFamily(drafts=[[*GOOD, *quote(wrong, "handbook:1")]], revisions=revisions)


class Unreachable(ScriptedFamily):
    """A family whose model can't be reached for the first repair."""

    async def revise(self, question, faulty, sources, *, language, meter):  # type: ignore[no-untyped-def]
        if not self.faulty:
            meter.call()
            self.faulty.append(list(faulty))
            raise ModelUnavailable("no reply")
        return await super().revise(question, faulty, sources, language=language, meter=meter)
