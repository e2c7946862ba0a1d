"""Errors in a person's words: tools and fields, which errors name for agents, become commands and options."""

import math
import re

from fingerpost.errors import PlaceAmbiguous, SourceKeyRefused, SourceLimited, ToolError

_CHOOSE = "Choose one and write its id instead"
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"[Ll]ook the (?:place|stop) up(?: again)?", "Look it up"),
    (r"with findAddressOrStop, and save what is found", "with findAddressOrStop, and save it with save_user_variable"),
    (r", and send its lat,lon; or save it with save_user_variable", ", or save it with save_user_variable"),
    (r"^[Ss]top id missing", "No stop is named: write its name or its id, which findAddressOrStop finds"),
    (
        r"(?:origin|destination|stop|from|to) ('.*?') is no saved variable, no token and",
        r"\1 is no saved name, no stop id and",
    ),
    (r"Try increasing maxWalkingDistance or adjusting departure time", "Try a larger --max-walk, or another time"),
    (r"more maxWalkingDistance helps", "a larger --max-walk helps"),
    (r"[Cc]hoose (?:a candidate|one) and send its token", _CHOOSE),
    (r"Send the (?:token of the candidate|parameterValue of the place) that is meant (?:as [\w ]+|instead)", _CHOOSE),
    (r"is meant, send (\S+) as (?:the label|rawText)", r"is meant, write \1 instead"),
    (r"[Ss]end its token", "Write its id instead"),
    (r"[Ss]end coordinates", "give its position as LAT,LON"),
    (r"run_plan with action (\w+)(?: goes)?", r"`fingerpost runs \1 RUN`"),
    (r"get_plan_run with include memory", "`fingerpost runs show RUN --json`"),
    (r"[Aa]sk get_plan_run again", "Look again with `fingerpost runs show RUN`"),
    (
        r"[Aa]sk query_type metrics for (?:the words|its tags)",
        'For the words ask `fingerpost call sec_financial_data \'{"query_type": "metrics", "parameters": {}}\'`',
    ),
)
_NAMES: tuple[tuple[str, str], ...] = (
    ("findAddressOrStop", "`fingerpost find NAME`"),
    ("find_stops", "`fingerpost stops LAT LON`"),
    ("save_user_variable", "`fingerpost vars set NAME PLACE`"),
    ("constraints.maxWalkingDistance", "--max-walk"),
    ("constraints.maxTransfers", "--max-transfers"),
    ("constraints.optimize", "--optimize"),
    ("constraints.language", "--lang"),
    ("languagePreference", "--lang"),
    ("maxWalkingDistance", "--max-walk"),
    ("maxTransfers", "--max-transfers"),
    ("windowMinutes", "--window"),
    ("maxResults", "--limit"),
    ("maxDepartures", "--limit"),
    ("origin.value.lat", "the latitude of FROM"),
    ("origin.value.lon", "the longitude of FROM"),
    ("destination.value.lat", "the latitude of TO"),
    ("destination.value.lon", "the longitude of TO"),
    ("origin.value", "FROM"),
    ("destination.value", "TO"),
    ("coordinate.lat", "LAT"),
    ("coordinate.lon", "LON"),
    ("stop.value", "the stop"),
    ("when.time", "the time"),
    ("rawText", "the name"),
    ("walkFrom", "--from"),
)
_OPTION = re.compile(r"^(limit|radius|language) (?=must)")
_NO_KEY = (
    "No key was sent. Put one into an environment variable and name that: `fingerpost network set NAME key VARIABLE`, "
    "or ${VARIABLE} in the address of a feed"
)
_SECONDS_UP_TO = 120
_MINUTE_S = 60


def in_terminal_words(text: str) -> str:
    """Return a sentence for an agent as one for a person at a terminal."""
    for pattern, words in _PHRASES:
        text = re.sub(pattern, words, text)
    for name, words in _NAMES:
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w.])", words, text)
    text = _OPTION.sub(lambda found: "--lang " if found[1] == "language" else f"--{found[1]} ", text)
    return text.replace("; you sent ", "; you wrote ")


def describe_error(error: ToolError) -> list[str]:
    """Return an error's sentences, and a line for each candidate of an unclear place."""
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
    if isinstance(error, PlaceAmbiguous) and (attribution := error.details.get("attribution")):
        return f"{error.hint or _CHOOSE}. Data: {'; '.join(attribution)}"
    # A source that refuses a key may have a hint of its own.
    if isinstance(error, SourceKeyRefused) and error.hint == SourceKeyRefused.hint and "settings" in error.details:
        settings = " or ".join(error.details["settings"])
        return f"Set {settings} to a key that this source accepts" if settings else _NO_KEY
    return error.hint


def _describe_candidate(candidate: dict[str, str]) -> str:
    # Here: the envelope takes longer to import than --help may last.
    from fingerpost.contract.envelope import say_distinction

    apart = say_distinction(candidate)
    return f"  {candidate['token']}  {candidate['name']}{f' ({apart})' if apart else ''}"


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    # A field's or a file's name stays as it is spelt.
    capital = text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text
    return capital if capital.endswith((".", "!", "?")) else f"{capital}."
