"""Ask a server what it covers, and which version of the API it has."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fingerpost import clock
from fingerpost.errors import ParameterError, SourceChanged
from fingerpost.net.request import Fetch, RequestLimits, split_address
from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.learned_profile import LearnedProfile
from fingerpost.transit.model.place import Bounds, Coordinate, box_around, box_of
from fingerpost.transit.model.profile import Ability
from fingerpost.transit.model.provenance import FeedVersion
from fingerpost.transit.remote.kit.network import find_common_zone
from fingerpost.transit.remote.motis.places import ask_stops
from fingerpost.transit.remote.motis.server import OLDEST, MotisEndpoint, MotisServer, TooMuchAsked, versioned_path
from fingerpost.transit.remote.motis.shapes import Initial, OwnPlace, ServerConfig, read_mode
from fingerpost.transit.remote.motis.transitous import ATTRIBUTION, WORLD, is_transitous

ABILITIES = frozenset(Ability)
API_TRAIT, VERSION_TRAIT = "api", "motis"
# Around the middle of a server's map, where its stops are too many to be listed: enough to know the time zone.
_SAMPLE_M = 5000.0
_OSM = "© OpenStreetMap contributors, ODbL"


@dataclass(frozen=True, slots=True)
class _Listed:
    """Stops of a server, and whether they are all that there are in the network's box."""

    stops: Sequence[OwnPlace]
    is_whole: bool


async def learn_profile(fetch: Fetch, record: NetworkRecord, limits: RequestLimits) -> LearnedProfile:
    """Ask a server for its profile.

    Raises:
        ParameterError: it holds too much to be listed, and the record does not say which part the network is.
        StorageUnavailable: it cannot be asked.
        SourceChanged: it is no MOTIS, or answers in an unknown shape, or holds no stops.
    """
    server = MotisServer(fetch, record, limits=limits)
    initial = (await server.ask(MotisEndpoint.INITIAL, Initial, {}, fresh_s=0.0)).data
    config = initial.server_config or ServerConfig()
    server.api = await _find_api(server)
    traits = {API_TRAIT: str(server.api), VERSION_TRAIT: config.motis_version or "unknown"}
    if is_transitous(record.url):
        return _learn_transitous(record, traits)
    listed = await _list_stops(server, record, Coordinate(initial.lat, initial.lon))
    stops = listed.stops if listed.is_whole else ()
    modes = (read_mode(mode) for stop in stops for mode in stop.modes)
    abilities = ABILITIES if config.has_street_routing is not False else ABILITIES - {Ability.STEP_FREE}
    return LearnedProfile(
        bounds=box_of([stop.coordinate for stop in stops]) if stops else None,
        zone=find_common_zone(stop.tz for stop in listed.stops),
        feeds=tuple(FeedVersion(name=tag) for tag in _list_tags(stops)),
        modes=frozenset(modes),
        attribution=_attribution(record, has_streets=config.has_street_routing is not False),
        abilities=abilities,
        traits=traits,
        learned_at=clock.now(),
    )


def read_api(learned: LearnedProfile | None, default: int) -> int:
    said = "" if learned is None else learned.traits.get(API_TRAIT, "")
    return int(said) if said.isdecimal() else default


async def _find_api(server: MotisServer) -> int:
    """Return the newest version of the API that the server has; it says it nowhere, and complains of unknown paths."""
    for version in (6, 5, 4):
        if await server.has(versioned_path(MotisEndpoint.STOP_TIMES, version)):
            return version
    for version in (3, 2):
        if await server.has(versioned_path(MotisEndpoint.PLAN, version)):
            return version
    return OLDEST


def _learn_transitous(record: NetworkRecord, traits: dict[str, str]) -> LearnedProfile:
    """Return what is known of Transitous without listing anything, as it asks."""
    if record.zone is None:
        raise ParameterError(
            "Transitous covers the world: say in which time zone a time without an offset is meant",
            {"field": "zone"},
            hint="Such as --zone Europe/Berlin; --bounds S,W,N,E keeps the network to a part of the world",
        )
    return LearnedProfile(
        bounds=WORLD, attribution=ATTRIBUTION, abilities=ABILITIES, traits=traits, learned_at=clock.now()
    )


async def _list_stops(server: MotisServer, record: NetworkRecord, middle: Coordinate) -> _Listed:
    box = WORLD
    if record.bounds is not None:
        south, west, north, east = record.bounds
        box = Bounds(south=south, west=west, north=north, east=east)
        middle = Coordinate((south + north) / 2, (west + east) / 2)
    try:
        stops = (await ask_stops(server, box, fresh_s=0.0)).data
    except TooMuchAsked as error:
        if record.bounds is None:
            raise ParameterError(
                "The server holds more stops than it lists at once: say which part of its world this network is",
                {"field": "bounds"},
                hint="Give --bounds S,W,N,E",
            ) from error
        return _Listed((await ask_stops(server, box_around(middle, _SAMPLE_M), fresh_s=0.0)).data, is_whole=False)
    if not stops:
        raise SourceChanged("The server holds no stops there", hint="Import a timetable, or correct --bounds")
    return _Listed(stops, is_whole=True)


def _list_tags(stops: Iterable[OwnPlace]) -> list[str]:
    """Return the feeds of stops, as the server spells them; ids without one have none."""
    ids = (stop.stop_id for stop in stops if stop.stop_id is not None)
    return sorted({tag for stop_id in ids for tag, underscore, _ in [stop_id.partition("_")] if tag and underscore})


def _attribution(record: NetworkRecord, *, has_streets: bool) -> tuple[str, ...]:
    """Return whom an answer must name; MOTIS does not say who publishes its feeds."""
    host = split_address(record.url or "").hostname
    told = f"MOTIS at {host}; whoever runs it names the sources of its data"
    return (told, _OSM) if has_streets else (told,)
