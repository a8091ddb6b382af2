"""Questions asked of the whole graph over small fakes, in one session, with what each run told."""

from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from graph.builder import build
from graph.context import Context
from graph.events import AnyEvent
from graph.evidence import Message
from graph.ports import Resources
from graph.rows import Turn
from graph.state import InputState, State
from tests.fakes import MemoryLibrary, ScriptedFamily, resources, segment
from tools.runs.completion import finished_message

LEAVE = segment("handbook", 0, "Staff get 25 days of annual leave. Unused days expire in March.")
PAY = segment("handbook", 1, "Salaries are paid on the 28th.", start=len(LEAVE.text))
FOOD = segment("kitchen", 0, "The kitchen closes at nine.")


@dataclass
class Asked:
    """Questions asked of one session, with what each run told."""

    library: MemoryLibrary = field(default_factory=lambda: MemoryLibrary([LEAVE, PAY, FOOD]))
    family: ScriptedFamily = field(default_factory=ScriptedFamily)
    ports: dict[str, Any] = field(default_factory=dict)
    of: Resources | None = None
    joined: bool = True  # as the service builds the graph; Studio has each step for itself
    events: list[AnyEvent] = field(default_factory=list)
    super_steps: list[list[str]] = field(default_factory=list)  # the steps of each, the first being the question's own

    def __post_init__(self) -> None:
        self._graph = build(self.of or resources(self.library, self.family, **self.ports), joined=self.joined).compile(
            checkpointer=InMemorySaver()
        )

    async def ask(
        self,
        question: str,
        *,
        pages: list[str] | None = None,
        selected_text: str = "",
        history: list[Turn] | None = None,
        **knobs: Any,
    ) -> State:
        """Ask, and give the state at the end."""
        return await self._follow(
            InputState(question=question, page_ids=pages or [], selected_text=selected_text, history=history), knobs
        )

    async def resume(self, **knobs: Any) -> State:
        """Go on from the last checkpoint of a run that broke off, and give the state at the end."""
        return await self._follow(None, knobs)

    async def _follow(self, asked: InputState | None, knobs: dict[str, Any]) -> State:
        self.events.clear()
        self.super_steps.clear()
        state: State | None = None
        async for part in self._graph.astream(
            asked,
            {"configurable": {"thread_id": "one"}},
            context=Context(**knobs),
            stream_mode=["custom", "values"],
            version="v2",
        ):
            if part["type"] == "custom":
                self.events.append(part["data"])
            else:
                state = part["data"]
                self.super_steps.append(self.steps[sum(map(len, self.super_steps)) :])
        assert state is not None
        return state

    async def message(self, state: State) -> Message:
        """Lay out the finished message of a state."""
        return await finished_message(state, self.library, Context().identity, "llm")

    def told(self, kind: str) -> list[Any]:
        """List the events of one kind."""
        return [event for event in self.events if event.type == kind]

    @property
    def steps(self) -> list[str]:
        """List the steps taken, in order."""
        return [event.step for event in self.told("step_started")]


def proven(state: State) -> list[tuple[str, int, int, str]]:
    """List what the claims are proven by: segment, span and verdict."""
    return [
        (proof["segment_id"], proof["start"], proof["end"], row["verdict"])
        for row in state.claims
        for proof in row["proofs"]
    ]
