"""The JSON Schema of MOTIS' answers, written from its published OpenAPI description.

Read in motis-project/motis, ``openapi.yaml``, at commit ed0360fd09 (2026-08-20). Only what our answers hold is stated:
required fields, their types, and the words that may stand in them; a field that is not stated here is refused.
"""


def words(text):
    return {"type": "string", "enum": text.split()}


def several(shape):
    return {"type": "array", "items": shape}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


ZONED = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
TEXT, NUMBER, COUNT, FLAG, ANYTHING = ({"type": kind} for kind in ("string", "number", "integer", "boolean", "object"))


def each(names, shape):
    return dict.fromkeys(names.split(), shape)


# What the fields of one name hold in every shape; all others are texts.
TYPES = {
    **each("start end startTime endTime scheduledStartTime scheduledEndTime departure scheduledDeparture", ZONED),
    **each("lat lon zoom amount distance adminLevel score maxOneToManySize maxOneToAllTravelTimeLimit", NUMBER),
    **each("maxPrePostTransitTimeLimit maxDirectTimeLimit", NUMBER),
    **each("precision length duration transfers routeType", COUNT),
    **each("cancelled tripCancelled realTime scheduled interlineWithPreviousLeg bikesAllowed matched default", FLAG),
    **each("hasElevation hasRoutedTransfers hasStreetRouting shapesDebugEnabled", FLAG),
    **each("requestParameters debugOutput", ANYTHING),
    **each("from to tripFrom tripTo place", ref("Place")),
    **each("direct itineraries", several(ref("Itinerary"))),
    "alerts": several(ref("Alert")),
    "areas": several(ref("Area")),
    "effect": ref("AlertEffect"),
    "impactPeriod": several(ref("TimeRange")),
    "intermediateStops": several(ref("Place")),
    "legGeometry": ref("EncodedPolyline"),
    "legs": several(ref("Leg")),
    "mode": ref("Mode"),
    "modes": several(ref("Mode")),
    "pickupDropoffType": words("NORMAL NOT_ALLOWED"),
    "reservation": words("NONE COMPULSORY"),
    "rule": words("A_AB A_AB_B AB"),
    "serverConfig": ref("ServerConfig"),
    "stopTimes": several(ref("StopTime")),
    "tokens": several(several(NUMBER)),
    "type": words("ADDRESS PLACE STOP"),
    "vertexType": words("NORMAL BIKESHARE TRANSIT"),
    "wheelchairAccessible": words("ACCESSIBLE NOT_ACCESSIBLE"),
}


def shape(required, optional=""):
    fields = {name: TYPES.get(name, TEXT) for name in f"{required} {optional}".split()}
    return {"type": "object", "required": required.split(), "properties": fields, "additionalProperties": False}


SCHEMAS = {
    "Mode": words(
        """WALK BIKE RENTAL CAR HGV CAR_PARKING CAR_DROPOFF ODM RIDE_SHARING FLEX DEBUG_BUS_ROUTE DEBUG_RAILWAY_ROUTE
        DEBUG_FERRY_ROUTE TRANSIT TRAM SUBWAY FERRY AIRPLANE BUS COACH RAIL HIGHSPEED_RAIL LONG_DISTANCE NIGHT_RAIL
        REGIONAL_FAST_RAIL REGIONAL_RAIL SUBURBAN FUNICULAR AERIAL_LIFT OTHER AREAL_LIFT METRO CABLE_CAR"""
    ),
    "AlertEffect": words(
        """NO_SERVICE REDUCED_SERVICE SIGNIFICANT_DELAYS DETOUR ADDITIONAL_SERVICE MODIFIED_SERVICE OTHER_EFFECT
        UNKNOWN_EFFECT STOP_MOVED NO_EFFECT ACCESSIBILITY_ISSUE"""
    ),
    "Error": shape("error"),
    # The description requires both ends and says that either may be missing; the server leaves one out.
    "TimeRange": shape("", "start end"),
    "Alert": shape("headerText descriptionText", "effect url impactPeriod"),
    "Place": shape(
        "name lat lon", "stopId parentId tz departure scheduledDeparture track vertexType cancelled alerts modes"
    ),
    "EncodedPolyline": shape("points precision length"),
    "Leg": shape(
        "mode startTime endTime scheduledStartTime scheduledEndTime realTime scheduled duration from to legGeometry",
        """distance interlineWithPreviousLeg headsign tripFrom tripTo routeId routeType directionId agencyId agencyName
        agencyUrl tripId routeShortName routeLongName tripShortName displayName cancelled source intermediateStops
        alerts bikesAllowed wheelchairAccessible reservation""",
    ),
    "Itinerary": shape("duration startTime endTime transfers id legs"),
    "StopTime": shape(
        """place mode realTime headsign tripFrom tripTo agencyId agencyName agencyUrl tripId routeId directionId
        routeShortName routeLongName tripShortName displayName pickupDropoffType cancelled tripCancelled bikesAllowed
        wheelchairAccessible reservation source""",
        "routeType",
    ),
    "Area": shape("name adminLevel matched", "default"),
    "Match": shape("type name id lat lon tokens areas score"),
    "ServerConfig": shape(
        """motisVersion hasElevation hasRoutedTransfers hasStreetRouting maxOneToManySize maxOneToAllTravelTimeLimit
        maxPrePostTransitTimeLimit maxDirectTimeLimit shapesDebugEnabled"""
    ),
}

ANSWERS = {
    "plan": shape("requestParameters debugOutput from to direct itineraries previousPageCursor nextPageCursor"),
    "stoptimes": shape("stopTimes place previousPageCursor nextPageCursor"),
    "map/stops": several(ref("Place")),
    "geocode": several(ref("Match")),
    "map/initial": shape("lat lon zoom serverConfig"),
}
