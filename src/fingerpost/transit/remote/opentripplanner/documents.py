"""GraphQL documents for OpenTripPlanner, fitted to a server's schema.

A line that ends in ``#if Type.field`` is dropped if the server's schema lacks that field or input field.
``shapes.py`` has one class per selected object, with exactly the selected fields.
"""

import re
from functools import lru_cache

_ALERT = """
fragment Told on Alert {
  id alertHeaderText alertDescriptionText alertEffect alertUrl effectiveStartDate effectiveEndDate
}
"""

PLAN = """
query Plan(
  $origin: PlanLabeledLocationInput!
  $destination: PlanLabeledLocationInput!
  $dateTime: PlanDateTimeInput!
  $first: Int!
  $after: String
  $searchWindow: Duration
  $modes: PlanModesInput
  $preferences: PlanPreferencesInput!
  $withScheduled: Boolean! #if TimetablePreferencesInput.includeRealTimeCancellations
  $scheduled: PlanPreferencesInput! #if TimetablePreferencesInput.includeRealTimeCancellations
) {
  live: planConnection(
    origin: $origin
    destination: $destination
    dateTime: $dateTime
    first: $first
    after: $after
    searchWindow: $searchWindow
    modes: $modes
    preferences: $preferences
  ) {
    pageInfo { endCursor hasNextPage }
    routingErrors { code inputField }
    ...Itineraries
  }
  scheduled: planConnection( #if TimetablePreferencesInput.includeRealTimeCancellations
    origin: $origin #if TimetablePreferencesInput.includeRealTimeCancellations
    destination: $destination #if TimetablePreferencesInput.includeRealTimeCancellations
    dateTime: $dateTime #if TimetablePreferencesInput.includeRealTimeCancellations
    first: $first #if TimetablePreferencesInput.includeRealTimeCancellations
    searchWindow: $searchWindow #if TimetablePreferencesInput.includeRealTimeCancellations
    modes: $modes #if TimetablePreferencesInput.includeRealTimeCancellations
    preferences: $scheduled #if TimetablePreferencesInput.includeRealTimeCancellations
  ) @include(if: $withScheduled) { ...Itineraries } #if TimetablePreferencesInput.includeRealTimeCancellations
}
fragment Itineraries on PlanConnection {
  edges { node { legs {
    mode transitLeg distance realTime realtimeState serviceDate headsign interlineWithPreviousLeg
    pickupType dropoffType
    start { scheduledTime estimated { delay } }
    end { scheduledTime estimated { delay } }
    from { ...End }
    to { ...End }
    route { gtfsId shortName longName type color textColor }
    trip { gtfsId tripHeadsign wheelchairAccessible arrivalStoptime { stop { name } } }
    legGeometry { points }
    alerts { ...Told }
    fareProducts { id product { id #if Leg.fareProducts
      riderCategory { isDefault } #if RiderCategory.isDefault
      ... on DefaultFareProduct { price { amount currency { code } } } } } #if Leg.fareProducts
  } } }
}
fragment End on Place {
  name lat lon
  stop { gtfsId name platformCode wheelchairBoarding }
}
"""
PLAN += _ALERT

BOARD = """
query Board($ids: [String]!, $from: Long!, $seconds: Int!, $count: Int!) {
  stops(ids: $ids) {
    gtfsId platformCode
    alerts(types: [STOP]) { ...Told }
    stoptimesWithoutPatterns(
      startTime: $from timeRange: $seconds numberOfDepartures: $count omitNonPickups: true omitCanceled: false
    ) {
      serviceDay scheduledDeparture departureDelay realtime realtimeState pickupType headsign
      stopPositionInPattern
      trip {
        gtfsId tripHeadsign arrivalStoptime { stop { name } stopPositionInPattern }
        route { gtfsId shortName longName type color textColor }
        alerts(types: [TRIP, ROUTE, AGENCY]) { ...Told }
      }
    }
  }
}
"""
BOARD += _ALERT

STOPS_BY_ID = """
query StopsById($ids: [String]!) {
  stops(ids: $ids) { ...Stop }
  stations(ids: $ids) { ...Station }
}
fragment Stop on Stop { gtfsId name lat lon parentStation { ...Station } }
fragment Station on Stop { gtfsId name lat lon stops { gtfsId name lat lon } }
"""

STOPS_IN_BOX = """
query StopsInBox($south: Float!, $west: Float!, $north: Float!, $east: Float!) {
  stopsByBbox(minLat: $south, minLon: $west, maxLat: $north, maxLon: $east) {
    gtfsId name lat lon platformCode wheelchairBoarding
    routes { type }
    parentStation { gtfsId name lat lon stops { gtfsId name lat lon } }
  }
}
"""

ALL_STOPS = """
query AllStops {
  stops { gtfsId name lat lon parentStation { gtfsId } }
  stations { gtfsId name lat lon }
}
"""

NETWORK = """
query Network {
  feeds { feedId publisher { name } agencies { name timezone lang } }
  serviceTimeRange { start end }
  routes { type }
}
"""

DOCUMENTS = (PLAN, BOARD, STOPS_BY_ID, STOPS_IN_BOX, ALL_STOPS, NETWORK)

_CONDITION = re.compile(r"#if (\w+)\.(\w+)\s*$", re.MULTILINE)


def list_optional() -> list[str]:
    return sorted({f"{owner}.{name}" for document in DOCUMENTS for owner, name in _CONDITION.findall(document)})


@lru_cache(maxsize=256)
def fit(document: str, lacking: frozenset[str] = frozenset()) -> str:
    """Drop the lines of a document that need what a server lacks, and all conditions."""
    lines = []
    for line in document.strip().splitlines():
        condition = _CONDITION.search(line)
        if condition is None or f"{condition[1]}.{condition[2]}" not in lacking:
            lines.append(_CONDITION.sub("", line).strip())
    return "\n".join(lines)
