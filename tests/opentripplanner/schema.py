"""The part of OpenTripPlanner's GTFS GraphQL schema that our documents use, with its names and nullability.

``make test-otp`` validates the same documents against what a running server tells of itself.
"""

from graphql import build_schema

SDL = """
scalar Long
scalar OffsetDateTime
scalar Duration
scalar CoordinateValue
scalar Cost
scalar Reluctance

schema { query: QueryType }
type QueryType {
  feeds: [Feed]
  serviceTimeRange: ServiceTimeRange
  routes: [Route]
  stops(ids: [String], name: String): [Stop]
  stations(ids: [String], name: String): [Stop]
  stopsByBbox(minLat: Float!, minLon: Float!, maxLat: Float!, maxLon: Float!): [Stop]
  planConnection(
    origin: PlanLabeledLocationInput!, destination: PlanLabeledLocationInput!, dateTime: PlanDateTimeInput,
    first: Int = 50, after: String, searchWindow: Duration, modes: PlanModesInput, preferences: PlanPreferencesInput
  ): PlanConnection
}
type Feed { feedId: String! publisher: FeedPublisher agencies: [Agency] }
type FeedPublisher { name: String! }
type Agency { name: String! timezone: String! lang: String }
type ServiceTimeRange { start: Long end: Long }
type Route { gtfsId: String! shortName: String longName: String type: Int color: String textColor: String }
type Stop {
  gtfsId: String! name(language: String): String! lat: Float lon: Float platformCode: String
  wheelchairBoarding: WheelchairBoarding parentStation: Stop stops: [Stop] routes: [Route!]
  alerts(types: [StopAlertType]): [Alert]
  stoptimesWithoutPatterns(
    startTime: Long = 0, timeRange: Int = 86400, numberOfDepartures: Int = 5,
    omitNonPickups: Boolean = false, omitCanceled: Boolean = true
  ): [Stoptime]
}
enum WheelchairBoarding { NO_INFORMATION POSSIBLE NOT_POSSIBLE }
type Stoptime {
  serviceDay: Long scheduledDeparture: Int departureDelay: Int realtime: Boolean realtimeState: RealtimeState
  pickupType: PickupDropoffType headsign(language: String): String stopPositionInPattern: Int! stop: Stop trip: Trip
}
enum RealtimeState { SCHEDULED UPDATED CANCELED ADDED MODIFIED }
enum PickupDropoffType { SCHEDULED NONE CALL_AGENCY COORDINATE_WITH_DRIVER }
type Trip {
  gtfsId: String! tripHeadsign(language: String): String wheelchairAccessible: WheelchairBoarding
  route: Route! arrivalStoptime(serviceDate: String): Stoptime alerts(types: [TripAlertType]): [Alert]
}
enum StopAlertType { AGENCIES_OF_ROUTES PATTERNS ROUTES STOP STOP_ON_ROUTES STOP_ON_TRIPS TRIPS }
enum TripAlertType { AGENCY PATTERN ROUTE ROUTE_TYPE STOPS_ON_TRIP TRIP }
type PlanConnection { pageInfo: PlanPageInfo! routingErrors: [RoutingError!]! edges: [PlanEdge] }
type PlanPageInfo { endCursor: String hasNextPage: Boolean! }
type RoutingError { code: RoutingErrorCode! inputField: InputField }
enum RoutingErrorCode {
  LOCATION_NOT_FOUND NO_STOPS_IN_RANGE NO_TRANSIT_CONNECTION NO_TRANSIT_CONNECTION_IN_SEARCH_WINDOW OUTSIDE_BOUNDS
  OUTSIDE_SERVICE_PERIOD WALKING_BETTER_THAN_TRANSIT
}
enum InputField { DATE_TIME FROM TO VIA }
type PlanEdge { node: Itinerary! }
type Itinerary { legs: [Leg]! }
type Leg {
  mode: String transitLeg: Boolean distance: Float realTime: Boolean realtimeState: RealtimeState serviceDate: String
  headsign: String interlineWithPreviousLeg: Boolean pickupType: PickupDropoffType dropoffType: PickupDropoffType
  start: LegTime! end: LegTime! from: Place! to: Place! route: Route trip: Trip legGeometry: Geometry
  alerts: [Alert] fareProducts: [FareProductUse]
}
type LegTime { scheduledTime: OffsetDateTime! estimated: RealTimeEstimate }
type RealTimeEstimate { delay: Duration! }
type Place { name: String lat: Float! lon: Float! stop: Stop }
type Geometry { points: String }
type Alert {
  id: ID! alertHeaderText: String alertDescriptionText: String! effectiveStartDate: Long effectiveEndDate: Long
  alertEffect: AlertEffectType alertUrl: String
}
enum AlertEffectType {
  ACCESSIBILITY_ISSUE ADDITIONAL_SERVICE DETOUR MODIFIED_SERVICE NO_EFFECT NO_SERVICE OTHER_EFFECT REDUCED_SERVICE
  SIGNIFICANT_DELAYS STOP_MOVED UNKNOWN_EFFECT
}
type FareProductUse { id: String! product: FareProduct }
interface FareProduct { id: String! riderCategory: RiderCategory }
type RiderCategory { isDefault: Boolean! }
type DefaultFareProduct implements FareProduct { id: String! riderCategory: RiderCategory price: Money! }
type Money { amount: Float! currency: Currency! }
type Currency { code: String! digits: Int! }

input PlanLabeledLocationInput { label: String location: PlanLocationInput! }
input PlanLocationInput @oneOf { coordinate: PlanCoordinateInput stopLocation: PlanStopLocationInput }
input PlanCoordinateInput { latitude: CoordinateValue! longitude: CoordinateValue! }
input PlanStopLocationInput { stopLocationId: String! }
input PlanDateTimeInput @oneOf { earliestDeparture: OffsetDateTime latestArrival: OffsetDateTime }
input PlanModesInput { transitOnly: Boolean = false directOnly: Boolean = false }
input PlanPreferencesInput {
  accessibility: AccessibilityPreferencesInput street: PlanStreetPreferencesInput transit: TransitPreferencesInput
}
input AccessibilityPreferencesInput { wheelchair: WheelchairPreferencesInput }
input WheelchairPreferencesInput { enabled: Boolean }
input PlanStreetPreferencesInput { walk: WalkPreferencesInput }
input WalkPreferencesInput { reluctance: Reluctance }
input TransitPreferencesInput { transfer: TransferPreferencesInput timetable: TimetablePreferencesInput }
input TransferPreferencesInput { cost: Cost maximumTransfers: Int }
input TimetablePreferencesInput {
  includeRealTimeCancellations: Boolean = false excludeRealTimeUpdates: Boolean = false
}
"""

SCHEMA = build_schema(SDL)


def build_older(*lines):
    sdl = SDL
    for line in lines:
        assert line in sdl
        sdl = sdl.replace(line, "")
    return build_schema(sdl)
