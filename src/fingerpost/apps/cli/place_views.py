"""Print places and stops."""

from typing import Any

from rich.console import Console
from rich.text import Text

from fingerpost.apps.cli.fitting_table import new_table
from fingerpost.apps.cli.footnotes import print_below
from fingerpost.apps.cli.output import new_console
from fingerpost.errors import PlaceAmbiguous


def print_places(body: dict[str, Any]) -> None:
    """Print an answer of findAddressOrStop: the place, or those that it could be."""
    from fingerpost.contract.envelope import say_distinction

    console = new_console()
    candidates = body.get("candidates")
    if candidates is None:
        console.print(Text.assemble((body["name"], "bold"), f"{_locality(body)}  {_token(body)}"))
        _print_meta(console, body)
        return
    meta = body.get("meta", {})
    if "reason" in meta:
        console.print(f"{meta['reason']} If it is meant, write its token instead; else spell it differently:")
    else:
        console.print(f"It could be any of these {body['totalCandidatesFound']}; the token is accepted everywhere:")
    table = new_table("token", "name", "score", "what tells it apart")
    for candidate in candidates:
        apart = say_distinction(meta.get("candidates", {}).get(_token(candidate), {}))
        score = f"{candidate['confidenceScore']:.2f}"
        table.add_row(_token(candidate), candidate["name"] + _locality(candidate), score, apart)
    console.print(table)
    if body["truncated"]:
        console.print(f"The best {len(candidates)} are shown.")
    _print_meta(console, body)


def _print_meta(console: Console, body: dict[str, Any]) -> None:
    meta = body.get("meta", {})
    for warning in meta.get("warnings", ()):
        console.print(Text(f"! {warning['message']}", "yellow"))
    if "attribution" in meta:
        console.print(Text(f"Data: {'; '.join(meta['attribution'])}", "dim"))


def as_unclear(body: dict[str, Any], text: str) -> PlaceAmbiguous:
    """Return the candidates of an answer of findAddressOrStop as what a command that needs one place ends with."""
    meta = body.get("meta", {})
    apart = meta.get("candidates", {})
    candidates = [
        {**apart.get(_token(each), {}), "token": _token(each), "name": each["name"]} for each in body["candidates"]
    ]
    count, reason = body["totalCandidatesFound"], meta.get("reason", "").removeprefix("Not certain").rstrip(".")
    more = f"; {count} places fit, of which the best {len(candidates)} are shown" if body["truncated"] else ""
    return PlaceAmbiguous(
        f"'{text}' is not certain{reason}{more}",
        {"candidates": candidates, "resolved": [{"rawQuery": text}], "attribution": meta.get("attribution", [])},
        hint="Choose one and send its token",
    )


def print_stops(body: dict[str, Any]) -> None:
    """Print an answer of find_stops."""
    console = new_console()
    table = new_table("metres", "name", "id", "modes")
    table.columns[0].justify = "right"
    for stop in body["stops"]:
        table.add_row(str(stop["distance"]), stop["name"], stop["id"], " ".join(stop["modes"]))
    console.print(table if body["stops"] else "No stops there.")
    print_below(console, body)


def _token(place: dict[str, Any]) -> str:
    at = place["coordinate"]
    return place.get("id") or f"{at['lat']:.6f},{at['lon']:.6f}"


def _locality(place: dict[str, Any]) -> str:
    return f", {place['locality']}" if place.get("locality") else ""
