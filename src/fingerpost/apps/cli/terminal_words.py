"""Errors in a person's words: tools and fields, which errors name for agents, become commands and options."""

import math
import re

from fingerpost.errors import PlaceAmbiguous, SourceKeyRefused, SourceLimited, ToolError

_WORDS = {
    "stop id missing": "no stop is named: write its name or its id, which `fingerpost find NAME` finds",
    "Ask query_type metrics": (
        'Ask `fingerpost call sec_financial_data \'{"query_type": "metrics", "parameters": {"ticker": "TICKER"}}\'`'
    ),
    "use its token": "write its id, which is in parentheses",
    "run_plan with its run_id and action cancel": "`fingerpost runs cancel RUN`",
    "findAddressOrStop": "`fingerpost find NAME`",
    "find_stops": "`fingerpost stops LAT LON`",
    "save_user_variable": "`fingerpost vars set NAME PLACE`",
    "constraints.maxWalkingDistance": "--max-walk",
    "constraints.maxTransfers": "--max-transfers",
    "constraints.optimize": "--optimize",
    "constraints.language": "--lang",
    "languagePreference": "--lang",
    "maxWalkingDistance": "--max-walk",
    "maxTransfers": "--max-transfers",
    "windowMinutes": "--window",
    "maxResults": "--limit",
    "maxDepartures": "--limit",
    "origin.value.lat": "the latitude of FROM",
    "origin.value.lon": "the longitude of FROM",
    "destination.value.lat": "the latitude of TO",
    "destination.value.lon": "the longitude of TO",
    "origin.value": "FROM",
    "destination.value": "TO",
    "coordinate.lat": "LAT",
    "coordinate.lon": "LON",
    "stop.value": "the stop",
    "when.time": "the time",
    "rawText": "the name",
    "walkFrom": "--from",
}
_AGENT_WORD = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, _WORDS))})(?![\w.])")
_OPTION = re.compile(r"^(limit|radius|language) (?=must)")
_CHOOSE = "Choose one and write its id instead"
_CONFIRM = "If this is meant, write its id instead; else spell it differently"
_NO_KEY = (
    "No key was sent. Put one into an environment variable and name that: `fingerpost network set NAME key VARIABLE`, "
    "or ${VARIABLE} in the address of a feed"
)
_SECONDS_UP_TO = 120
_MINUTE_S = 60


def in_terminal_words(text: str) -> str:
    """Return a sentence for an agent as one for a person at a terminal."""
    text = _AGENT_WORD.sub(lambda found: _WORDS[found[0]], text)
    return _OPTION.sub(lambda found: "--lang " if found[1] == "language" else f"--{found[1]} ", text)


def describe_error(error: ToolError) -> list[str]:
    lines = [error.message, _find_remedy(error), find_pause(error)]
    sentences = [_sentence(in_terminal_words(line)) for line in lines if line]
    return sentences + [_describe_candidate(candidate) for candidate in error.details.get("candidates", ())]


def find_pause(error: ToolError) -> str | None:
    """Return when to ask again, rounded up; None unless a source asked us to wait."""
    if not isinstance(error, SourceLimited):
        return None
    wait_s = math.ceil(max(0.0, error.retry_after_s))
    if wait_s <= _SECONDS_UP_TO:
        return f"Ask again in {wait_s} s"
    hours, minutes = divmod(-(-wait_s // _MINUTE_S), 60)
    return f"Ask again in {hours} h {minutes:02} min" if hours else f"Ask again in {minutes} min"


def _find_remedy(error: ToolError) -> str | None:
    if isinstance(error, PlaceAmbiguous) and (candidates := error.details.get("candidates")):
        choose = _CHOOSE if len(candidates) > 1 else _CONFIRM
        attribution = error.details.get("attribution")
        return f"{choose}. Data: {'; '.join(attribution)}" if attribution else choose
    # A source that refuses a key may have a hint of its own.
    if isinstance(error, SourceKeyRefused) and error.hint == SourceKeyRefused.hint and "settings" in error.details:
        settings = " or ".join(error.details["settings"])
        return f"Set {settings} to a key that this source accepts" if settings else _NO_KEY
    return error.hint


def _describe_candidate(candidate: dict[str, str]) -> str:
    # Here: the envelope takes longer to import than --help may last.
    from fingerpost.contract.envelope import format_distinction

    apart = format_distinction(candidate)
    return f"  {candidate['token']}  {candidate['name']}{f' ({apart})' if apart else ''}"


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    # A field's or a file's name stays as it is spelt.
    capital = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
