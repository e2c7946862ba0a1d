"""An unclear place at a terminal: what to type instead, and the candidates to choose from."""

from typing import Any

from fingerpost.apps.cli.terminal_words import in_terminal_words
from fingerpost.apps.cli.typed_commands import type_again
from fingerpost.contract.envelope import say_distinction
from fingerpost.errors import PlaceAmbiguous


def say_what_to_type(error: PlaceAmbiguous) -> str | None:
    """Return the typed command with the best candidate in place of the text that was unclear."""
    candidates, resolved = error.details.get("candidates", ()), error.details.get("resolved", ())
    label = resolved[0].get("rawQuery") if resolved else None
    again = None if label is None else type_again(label, candidates[0]["token"], side=error.details.get("side", ""))
    if again is None:
        return None if error.hint is None else in_terminal_words(error.hint)
    if len(candidates) == 1:
        told = f"If {candidates[0]['name']} is meant, type `{again}`; else spell it differently"
    else:
        told = f"Choose one and write the word before its name instead, such as `{again}`"
    attribution = error.details.get("attribution")
    return f"{told}. Data: {'; '.join(attribution)}" if attribution else told


def list_candidates(error: PlaceAmbiguous) -> list[str]:
    """Return a line for each candidate, its token first."""
    return [_say_candidate(candidate) for candidate in error.details.get("candidates", ())]


def _say_candidate(candidate: dict[str, Any]) -> str:
    apart = say_distinction(candidate)
    return f"  {candidate['token']}  {candidate['name']}{f' ({apart})' if apart else ''}"
