"""Errors in a person's words: what an agent is told of tools and fields becomes commands and options."""

import re

_COMMANDS: tuple[tuple[str, str], ...] = (
    (
        r"[Ll]ook the (?:place|stop) up(?: again)? with findAddressOrStop or find_stops",
        "Look it up with `fingerpost find NAME`, or with `fingerpost stops LAT LON`",
    ),
    (
        r"[Ll]ook the (?:place|stop) up(?: again)? with findAddressOrStop, and save what is found",
        "Save it anew with `fingerpost vars set`",
    ),
    (
        r"[Ll]ook the (?:place|stop) up(?: again)? with findAddressOrStop, or send coordinates",
        "Look it up with `fingerpost find NAME`, or give its position as LAT,LON",
    ),
    (r"[Ll]ook the (?:place|stop) up(?: again)? with findAddressOrStop", "Look it up with `fingerpost find NAME`"),
    (
        r"Look it up with findAddressOrStop, and send its lat,lon; or save it with save_user_variable",
        "Save it with `fingerpost vars set NAME PLACE` and write NAME, or give its position as LAT,LON",
    ),
    (r"^[Ss]top id missing", "No stop is named: write its name or its id, which `fingerpost find NAME` tells"),
    (r"look a name up with findAddressOrStop", "look a name up with `fingerpost find NAME`"),
    (r"search around a coordinate with find_stops", "list the stops around a point: `fingerpost stops LAT LON`"),
    (
        r"(?:origin|destination|stop|from|to) '(.*?)' is no saved variable, no token and no place",
        r"'\1' is no saved name, no stop id and no place",
    ),
    (
        r"Try increasing maxWalkingDistance or adjusting departure time",
        "Try a larger --max-walk, or another time with --at",
    ),
    (r"more maxWalkingDistance helps", "a larger --max-walk helps"),
    (r"[Cc]hoose (?:a candidate|one) and send its token", "Choose one and write the word before its name instead"),
    (
        r"Send the (?:token of the candidate|parameterValue of the place) that is meant (?:as [\w ]+|instead)",
        "Choose one and write the word before its name instead",
    ),
    (r"is meant, send (\S+) as (?:the label|rawText)", r"is meant, write \1 instead"),
    (r"[Ss]end its token", "Write the word before its name instead"),
    (r"[Ss]end coordinates", "give the position as LAT,LON"),
    (r"run_plan with action (\w+)(?: goes)?", r"`fingerpost runs \1 RUN`"),
    (r"get_plan_run with include memory", "`fingerpost runs show RUN --json`"),
    (
        r"[Aa]sk query_type metrics for (?:the words|its tags)",
        'For the words ask `fingerpost call sec_financial_data \'{"query_type": "metrics", "parameters": {}}\'`',
    ),
    (r"[Aa]sk get_plan_run again", "Look again with `fingerpost runs show RUN`"),
)
_FIELDS: tuple[tuple[str, str], ...] = (
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
_OPTIONS = ("limit", "radius", "language")


def in_terminal_words(text: str) -> str:
    """Return a sentence for an agent as one for a person at a terminal."""
    for pattern, words in _COMMANDS:
        text = re.sub(pattern, words, text)
    for field, words in _FIELDS:
        text = re.sub(rf"(?<![\w.-]){re.escape(field)}(?![\w.])", words, text)
    for field in _OPTIONS:
        text = re.sub(rf"^{field} (?=must)", f"--{'lang' if field == 'language' else field} ", text)
    return re.sub(r"; you sent ", "; you wrote ", text)
