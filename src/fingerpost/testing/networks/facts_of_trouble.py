"""What holds of a network whose server is in trouble: the error says what the caller should do next."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fingerpost.errors import (
    SourceChanged,
    SourceFailed,
    SourceLimited,
    SourceTimeout,
    SourceUnreachable,
    ToolError,
)
from fingerpost.testing.networks.checking import AskedNetwork, NetworkBroken, expect, expect_same
from fingerpost.testing.networks.source import ConformingSource, Trouble
from fingerpost.testing.networks.town import new_town
from fingerpost.transit.model.profile import Ability


@dataclass(frozen=True, slots=True)
class TroubleFact:
    """A trouble, and the branch of ``fingerpost.errors`` that every question must then raise."""

    name: str
    trouble: Trouble
    branch: type[ToolError]

    @property
    def sentence(self) -> str:
        """What is asked."""
        return f"Does every question raise {self.branch.__name__} where {self.trouble.value}?"

    def __str__(self) -> str:
        """Return the name."""
        return self.name


TROUBLES = (
    TroubleFact("a_server_that_cannot_be_reached_is_told", Trouble.UNREACHABLE, SourceUnreachable),
    TroubleFact("a_server_that_is_silent_is_told", Trouble.SILENT, SourceTimeout),
    TroubleFact("a_server_that_fails_is_told", Trouble.FAILING, SourceFailed),
    TroubleFact("a_server_that_asks_us_to_wait_is_told", Trouble.LIMITING, SourceLimited),
    TroubleFact("an_answer_in_another_format_is_told", Trouble.MALFORMED, SourceChanged),
)


async def check_trouble(source: ConformingSource, fact: TroubleFact) -> None:
    """Ask a network in trouble every kind of question.

    Raises:
        NetworkBroken: one is answered, or fails otherwise than it should.
    """
    town = new_town()
    async with source.open_in_trouble(town, fact.trouble) as network:
        asked = AskedNetwork(network, town)
        questions: dict[Ability, Callable[[], Awaitable[object]]] = {
            Ability.PLANS: lambda: asked.plan("Alpha", "Gamma", "08:00"),
            Ability.BOARDS: lambda: asked.board("Alpha", "08:00", "09:00"),
            Ability.NAMES: lambda: asked.network.find_places("Alpha"),
            Ability.STOPS: lambda: asked.network.list_stops_near(town.coordinate("Alpha"), 100.0),
        }
        for ability, ask in questions.items():
            if not asked.can(ability):
                continue
            try:
                answer = await ask()
            except ToolError as error:
                expect_same(type(error).__name__, fact.branch.__name__, f"the error of {ability.value}")
                expect(bool(error.message.strip()), f"the error of {ability.value} says nothing")
            else:
                raise NetworkBroken(f"{ability.value} are answered all the same: {answer!r}"[:300])
