"""Find TfL's stops by id, position or name."""

import re
from collections.abc import Iterator, Sequence

from fingerpost.transit.model.place import Coordinate, Place, PlaceKind
from fingerpost.transit.remote.kit.answers import Answer
from fingerpost.transit.remote.kit.places import Candidate, Geocoder, ServerStop, SingleFeedIds, StopLookup
from fingerpost.transit.remote.kit.server import STOPS_FRESH_S
from fingerpost.transit.remote.tfl import shapes
from fingerpost.transit.remote.tfl.server import TflClient
from fingerpost.transit.remote.tfl.unified_api import LANGUAGE

# Ids of stop groups, for which TfL never returns arrivals.
_GROUP = re.compile(r"HUB.+|490G.+", re.IGNORECASE)


# Types of stops where riders can board: stations, single bus stops and piers, but not entrances or platforms.
BOARDABLE_TYPES = (
    "NaptanMetroStation",
    "NaptanRailStation",
    "NaptanPublicBusCoachTram",
    "NaptanBusCoachStation",
    "NaptanFerryPort",
    "NaptanFerryBerth",
)
_GROUPS = frozenset(
    {"TransportInterchange", "NaptanOnstreetBusCoachStopPair", "NaptanOnstreetBusCoachStopCluster", "StopGroup"}
)


MAX_FOUND = 50
_STATION_SUFFIX = re.compile(
    r"\s*\b(?:Underground Station|Rail Station|DLR Station|Overground Station|Tram Stop|Bus Station|Pier|Station)$"
)


class StopPointLookup(Geocoder, StopLookup):
    """Finds stops by id, position or name; TfL has no addresses."""

    def __init__(self, server: TflClient, ids: SingleFeedIds) -> None:
        super().__init__(ids)
        self._server = server

    async def find_stop(self, public_id: str, language: str | None) -> Place | None:  # noqa: ARG002  # English only
        server_ids = self._ids.decode(public_id)
        stop = await self._find_exact(server_ids[0]) if server_ids else None
        return None if stop is None else self._new_place(stop)

    async def find_stop_place(self, public_id: str, language: str | None) -> Place | None:  # noqa: ARG002
        server_ids = self._ids.decode(public_id)
        stop = await self._find(server_ids[0]) if server_ids else None
        parent_id = None if stop is None else stop.hub_naptan_code or stop.station_naptan
        if stop is not None and parent_id and parent_id.upper() != stop.server_id.upper():
            stop = await self._find(parent_id) or stop
        return None if stop is None else self._new_place(stop)

    async def list_member_ids(self, server_id: str) -> list[str]:
        """Return TfL's ids for the stops in a hub or group; for any other stop, its own id."""
        stop = await self._find(server_id) if _GROUP.fullmatch(server_id) else None
        return [server_id] if stop is None else [part.server_id for part in _list_boardable(stop)]

    async def list_line_ids(self, server_id: str) -> list[str]:
        stop = await self._find_exact(server_id)
        return [] if stop is None else [line.id for line in stop.lines if line.id]

    async def _find_exact(self, server_id: str) -> shapes.TflStopPoint | None:
        """Return the stop with exactly this id; for some ids, TfL returns the top of the stop's hierarchy instead."""
        top = await self._find(server_id)
        parts = () if top is None else _iterate_stops(top)
        return next((part for part in parts if part.server_id.upper() == server_id.upper()), top)

    async def _list_around(self, centre: Coordinate, radius_m: float, *_: object) -> Answer[list[ServerStop]]:
        params = {
            "lat": f"{centre.lat:.6f}",
            "lon": f"{centre.lon:.6f}",
            "radius": str(round(radius_m) + 1),
            "stopTypes": ",".join(BOARDABLE_TYPES),
            "useStopPointHierarchy": "false",
            "returnLines": "true",
        }
        answer = await self._server.fetch(shapes.StopPointsNear, "StopPoint", params=params, fresh_s=STOPS_FRESH_S)
        return answer.with_data(
            [
                ServerStop(
                    server_id=stop.server_id,
                    name=stop.common_name,
                    coordinate=stop.coordinate,
                    modes=frozenset(map(shapes.read_mode, stop.modes)),
                    platform=stop.stop_letter,
                )
                for stop in answer.data.stop_points
            ]
        )

    async def _search(self, text: str, language: str | None, focus: Coordinate | None) -> Sequence[Candidate]:  # noqa: ARG002
        params = {"query": text, "maxResults": str(MAX_FOUND), "includeHubs": "true"}
        answer = await self._server.fetch(
            shapes.SearchResult, "StopPoint", "Search", params=params, fresh_s=STOPS_FRESH_S
        )
        return [
            Candidate(
                name=match.name,
                # People omit suffixes such as ``Underground Station`` when they search.
                label=_STATION_SUFFIX.sub("", match.name),
                coordinate=match.coordinate,
                stop_id=match.id,
            )
            for match in _drop_members(answer.data.matches)
        ]

    async def _find_places(self, candidates: Sequence[Candidate], *_: object) -> Sequence[Place]:
        return [
            new_place(self._ids.encode(candidate.stop_id or ""), candidate.name, candidate.coordinate)
            for candidate in candidates
        ]

    def _new_place(self, stop: shapes.TflStopPoint) -> Place:
        members = tuple(self._ids.encode(part.server_id) for part in _list_boardable(stop))
        return new_place(self._ids.encode(stop.server_id), stop.common_name, stop.coordinate, members)

    async def _find(self, server_id: str) -> shapes.TflStopPoint | None:
        found = await self._server.find(shapes.TflStopPoint, "StopPoint", server_id, fresh_s=STOPS_FRESH_S)
        return None if found is None else found.data


def _list_boardable(stop: shapes.TflStopPoint) -> list[shapes.TflStopPoint]:
    """Return the boardable stops of a hub or group; for any other stop, the stop itself."""
    if stop.stop_type not in _GROUPS:
        return [stop]
    children = [child for child in stop.children if child.stop_type in (*_GROUPS, *BOARDABLE_TYPES)]
    return list({part.server_id: part for child in children for part in _list_boardable(child)}.values())


def _iterate_stops(stop: shapes.TflStopPoint) -> Iterator[shapes.TflStopPoint]:
    yield stop
    for child in stop.children:
        yield from _iterate_stops(child)


def _drop_members(matches: Sequence[shapes.MatchedStop]) -> list[shapes.MatchedStop]:
    """Drop matches whose hub or station also matches, because the two are one place (rule D2)."""
    ids = {match.id for match in matches}
    return [match for match in matches if match.top_most_parent_id not in ids - {match.id}]


def new_place(public_id: str, name: str, coordinate: Coordinate, members: tuple[str, ...] = ()) -> Place:
    return Place(
        id=public_id,
        name=name,
        coordinate=coordinate,
        kind=PlaceKind.STOP,
        member_ids=members or (public_id,),
        names={LANGUAGE: name},
        language=LANGUAGE,
    )
