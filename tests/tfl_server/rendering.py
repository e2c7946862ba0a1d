"""Convert our values to the format of TfL's API."""

import json
from datetime import UTC, datetime, timedelta

from fingerpost.transit.engine.timetable.stop_ids import unescape
from fingerpost.transit.model.itinerary import Mode

ENTITIES = "Tfl.Api.Presentation.Entities"
MODES = {
    Mode.WALK: "walking",
    Mode.BUS: "bus",
    Mode.COACH: "coach",
    Mode.TRAM: "tram",
    Mode.METRO: "tube",
    Mode.RAIL: "national-rail",
    Mode.FERRY: "river-bus",
}


def entity(kind, /, **fields):
    """Return an object as TfL writes it: with its type, and without nulls."""
    kept = {key: value for key, value in fields.items() if value is not None}
    return {"$type": f"{ENTITIES}.{kind}, {ENTITIES}", **kept}


def api_error(status, kind, message):
    return entity(
        "ApiError",
        timestampUtc="2026-01-01T00:00:00.7711881Z",
        exceptionType=kind,
        httpStatusCode=status,
        httpStatus="NotFound",
        relativeUri="/",
        message=message,
    )


def naive(instant, zone, *, up=False):
    whole = instant + (-instant % 60 if up else -(instant % 60))
    return datetime.fromtimestamp(whole, zone).strftime("%Y-%m-%dT%H:%M:%S")


def utc(instant):
    return datetime.fromtimestamp(instant, UTC).strftime("%Y-%m-%dT%H:%M:%S.0000000Z")


def local_id(printed):
    return unescape(printed.partition(":")[2])


def journey_of(itinerary, zone, draw):
    legs = [leg_of(leg, zone, draw) for leg in itinerary.legs]
    begin, end = legs[0]["departureTime"], legs[-1]["arrivalTime"]
    whole = -(-(itinerary.arrival - itinerary.departure + itinerary.departure % 60) // 60)
    return entity("JourneyPlanner.Journey", startDateTime=begin, arrivalDateTime=end, duration=whole, legs=legs)


def leg_of(leg, zone, draw):
    departure, arrival = leg.departure_expected, leg.arrival_expected
    begin, end = departure - departure % 60, arrival + -arrival % 60
    route = entity("JourneyPlanner.RouteOption", name="", directions=[""])
    if leg.is_transit:
        line = entity("Identifier", id=leg.line.lower(), name=leg.line)
        route = entity(
            "JourneyPlanner.RouteOption", name=leg.line, directions=[leg.headsign or ""], lineIdentifier=line
        )
    points = [list(point) for point in draw(leg).points]
    return entity(
        "JourneyPlanner.Leg",
        duration=(end - begin) // 60,
        departureTime=naive(begin, zone),
        arrivalTime=naive(end, zone),
        scheduledDepartureTime=naive(leg.departure_scheduled, zone),
        scheduledArrivalTime=naive(leg.arrival_scheduled, zone, up=True),
        departurePoint=point_of(leg.start),
        arrivalPoint=point_of(leg.end),
        path=entity("JourneyPlanner.Path", lineString=json.dumps(points), stopPoints=[]),
        routeOptions=[route],
        mode=entity("Identifier", id=MODES[leg.mode], name=MODES[leg.mode]),
        disruptions=[],
        plannedWorks=[],
        distance=None if leg.is_transit else leg.distance_m,
    )


def point_of(point):
    return entity(
        "StopPoint",
        naptanId=None if point.id is None else local_id(point.id),
        platformName=point.platform or "",
        commonName=point.name,
        lat=point.coordinate.lat,
        lon=point.coordinate.lon,
    )


def stop_of(place, lines):
    groups = {}
    for line_id, mode in lines.items():
        groups.setdefault(MODES[mode], []).append(line_id)
    return entity(
        "StopPoint",
        naptanId=local_id(place.id),
        id=local_id(place.id),
        commonName=place.name,
        stopType="NaptanPublicBusCoachTram",
        modes=list(groups),
        lines=[entity("Identifier", id=line_id, name=line_id.upper()) for line_id in lines],
        lineModeGroups=[
            entity("LineModeGroup", modeName=mode, lineIdentifier=line_ids) for mode, line_ids in groups.items()
        ],
        lat=place.coordinate.lat,
        lon=place.coordinate.lon,
        children=[],
    )


def prediction_of(row, timestamp, number):
    return entity(
        "Prediction",
        id=str(number),
        naptanId=local_id(row.stop_id),
        lineId=row.line.lower(),
        lineName=row.line,
        platformName=row.platform or "null",
        destinationNaptanId=None,
        destinationName=row.destination,
        timestamp=utc(timestamp),
        expectedArrival=utc(row.expected),
        timeToLive=utc(row.expected),
        modeName=MODES[row.mode],
        timing=entity("PredictionTiming", source="0001-01-01T00:00:00"),
    )


def line_of(line_id, alerts=()):
    statuses = [
        entity("LineStatus", id=0, statusSeverity=15, statusSeverityDescription="Diverted", reason=alert.header,
               validityPeriods=[period_of(alert)])
        for alert in alerts
    ]  # fmt: skip
    good = entity(
        "LineStatus",
        id=0,
        statusSeverity=10,
        statusSeverityDescription="Good Service",
        created="0001-01-01T00:00:00",
        validityPeriods=[],
    )
    return entity("Line", id=line_id, name=line_id.title(), modeName="tube", lineStatuses=statuses or [good])


def disruption_of(alert, own_id):
    return entity("DisruptedPoint", atcoCode=own_id, description=alert.header, **period_of(alert))


def period_of(alert):
    bounds = {"fromDate": alert.since or 0, "toDate": alert.until or 4_000_000_000}
    return {name: datetime.fromtimestamp(each, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for name, each in bounds.items()}


def instant_of(date, time, zone):
    """Return the instant of a question's ``date`` and ``time``; the earlier where clocks show both."""
    day = datetime.strptime(date + time, "%Y%m%d%H%M")  # the zone is added
    return int(day.replace(tzinfo=zone).timestamp())


def begin_of(day, zone):
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone)
    return int((noon - timedelta(hours=12)).timestamp())
