"""Networks on drawn streets with stations: written feeds, imported with a drawn extract."""

from fingerpost.store.network_records import NetworkRecord
from fingerpost.transit.embedded.feed_import import StreetPreparation
from fingerpost.transit.embedded.network import EmbeddedNetwork
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from fingerpost.transit.model.place import Coordinate, Location, LocationSource
from fingerpost.transit.osm.streets.store import find_streets, save_streets
from fingerpost.transit.port import JourneyQuery
from tests.feeds import feed_from_drawing, write_feed
from tests.streets.drawn import degrees, osm, read

PATHWAYS = "pathway_id,from_stop_id,to_stop_id,pathway_mode,is_bidirectional,traversal_time\n"


def stop_row(stop_id, place, kind=0, parent="", wheelchair=1):
    lat, lon = degrees(*place)
    return f"{stop_id},{stop_id.capitalize()},{lat:.9f},{lon:.9f},{kind},{parent},{wheelchair}\n"


def network_of(town, lines, stops, folder, *, ways=(), **extra):
    extract = folder / "town.osm"
    extract.write_text(osm(read(town), **extra))
    tables = feed_from_drawing(lines)
    tables["stops.txt"] = (
        "stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station,wheelchair_boarding\n" + "".join(stops)
    )
    head, *rows = tables["trips.txt"].splitlines()
    tables["trips.txt"] = "\n".join([f"{head},wheelchair_accessible", *(f"{row},1" for row in rows)]) + "\n"
    if ways:
        tables["pathways.txt"] = PATHWAYS + "".join(f"{number},{way}\n" for number, way in enumerate(ways))
    feed = write_feed(folder / "feed", tables)
    preparation = StreetPreparation(extract)
    timetable = import_feeds("TEST", [FeedSource(feed)], find_walks=preparation.find_walks).timetable
    save_streets(preparation.prepared, folder)
    return EmbeddedNetwork(NetworkRecord(name="TEST"), timetable, streets=find_streets(folder))


def question(start, goal, instant, **more):
    ends = (Location(coordinate=Coordinate(*degrees(*place)), source=LocationSource.INPUT) for place in (start, goal))
    origin, destination = ends
    return JourneyQuery(
        origin=origin, destination=destination, instant=instant, max_walk_m=more.pop("max_walk_m", 2500), **more
    )


async def legs_of(network, *ends, **more):
    found = (await network.plan_journeys(question(*ends, **more))).itineraries
    return (
        [(leg.mode.value, leg.start.name, leg.end.name, round(leg.distance_m)) for leg in found[0].legs]
        if found
        else []
    )
