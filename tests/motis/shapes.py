"""What MOTIS requires of its answers, as JSON Schema, written from its published OpenAPI description.

Read in motis-project/motis, ``openapi.yaml``, at commit ed0360fd09 (2026-08-20). Only what our answers hold is stated:
required fields, their types, and the words that may stand in them; a field that is not stated here is refused.
"""

ZONED = {"type": "string", "format": "date-time", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"}
TEXT, NUMBER, COUNT, FLAG = ({"type": kind} for kind in ("string", "number", "integer", "boolean"))
MODES = """WALK BIKE RENTAL CAR HGV CAR_PARKING CAR_DROPOFF ODM RIDE_SHARING FLEX DEBUG_BUS_ROUTE DEBUG_RAILWAY_ROUTE
    DEBUG_FERRY_ROUTE TRANSIT TRAM SUBWAY FERRY AIRPLANE BUS COACH RAIL HIGHSPEED_RAIL LONG_DISTANCE NIGHT_RAIL
    REGIONAL_FAST_RAIL REGIONAL_RAIL SUBURBAN FUNICULAR AERIAL_LIFT OTHER AREAL_LIFT METRO CABLE_CAR"""
EFFECTS = """NO_SERVICE REDUCED_SERVICE SIGNIFICANT_DELAYS DETOUR ADDITIONAL_SERVICE MODIFIED_SERVICE OTHER_EFFECT
    UNKNOWN_EFFECT STOP_MOVED NO_EFFECT ACCESSIBILITY_ISSUE"""


def words(text):
    return {"type": "string", "enum": text.split()}


def several(shape):
    return {"type": "array", "items": shape}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def shape(required, **fields):
    return {"type": "object", "required": required.split(), "properties": fields, "additionalProperties": False}


SCHEMAS = {
    "Error": shape("error", error=TEXT),
    "Mode": words(MODES),
    "AlertEffect": words(EFFECTS),
    # The description requires both ends and says that either may be missing; the server leaves one out.
    "TimeRange": shape("", start=ZONED, end=ZONED),
    "Alert": shape(
        "headerText descriptionText",
        headerText=TEXT,
        descriptionText=TEXT,
        effect=ref("AlertEffect"),
        url=TEXT,
        impactPeriod=several(ref("TimeRange")),
    ),
    "Place": shape(
        "name lat lon",
        name=TEXT,
        stopId=TEXT,
        parentId=TEXT,
        lat=NUMBER,
        lon=NUMBER,
        tz=TEXT,
        departure=ZONED,
        scheduledDeparture=ZONED,
        track=TEXT,
        vertexType=words("NORMAL BIKESHARE TRANSIT"),
        cancelled=FLAG,
        alerts=several(ref("Alert")),
        modes=several(ref("Mode")),
    ),
    "EncodedPolyline": shape("points precision length", points=TEXT, precision=COUNT, length=COUNT),
    "FareProduct": shape("name amount currency", name=TEXT, amount=NUMBER, currency=TEXT),
    "FareTransfer": shape(
        "effectiveFareLegProducts",
        rule=words("A_AB A_AB_B AB"),
        transferProducts=several(ref("FareProduct")),
        effectiveFareLegProducts=several(several(several(ref("FareProduct")))),
    ),
    "Leg": shape(
        "mode startTime endTime scheduledStartTime scheduledEndTime realTime scheduled duration from to legGeometry",
        mode=ref("Mode"),
        startTime=ZONED,
        endTime=ZONED,
        scheduledStartTime=ZONED,
        scheduledEndTime=ZONED,
        realTime=FLAG,
        scheduled=FLAG,
        duration=COUNT,
        distance=NUMBER,
        **{"from": ref("Place")},
        to=ref("Place"),
        legGeometry=ref("EncodedPolyline"),
        interlineWithPreviousLeg=FLAG,
        headsign=TEXT,
        tripFrom=ref("Place"),
        tripTo=ref("Place"),
        routeId=TEXT,
        routeType=COUNT,
        directionId=TEXT,
        agencyId=TEXT,
        agencyName=TEXT,
        agencyUrl=TEXT,
        tripId=TEXT,
        routeShortName=TEXT,
        routeLongName=TEXT,
        tripShortName=TEXT,
        displayName=TEXT,
        cancelled=FLAG,
        source=TEXT,
        intermediateStops=several(ref("Place")),
        alerts=several(ref("Alert")),
        fareTransferIndex=COUNT,
        effectiveFareLegIndex=COUNT,
        bikesAllowed=FLAG,
        wheelchairAccessible=words("ACCESSIBLE NOT_ACCESSIBLE"),
        reservation=words("NONE COMPULSORY"),
    ),
    "Itinerary": shape(
        "duration startTime endTime transfers id legs",
        duration=COUNT,
        startTime=ZONED,
        endTime=ZONED,
        transfers=COUNT,
        id=TEXT,
        legs=several(ref("Leg")),
        fareTransfers=several(ref("FareTransfer")),
    ),
    "StopTime": shape(
        """place mode realTime headsign tripFrom tripTo agencyId agencyName agencyUrl tripId routeId directionId
        routeShortName routeLongName tripShortName displayName pickupDropoffType cancelled tripCancelled bikesAllowed
        wheelchairAccessible reservation source""",
        place=ref("Place"),
        mode=ref("Mode"),
        realTime=FLAG,
        headsign=TEXT,
        tripFrom=ref("Place"),
        tripTo=ref("Place"),
        agencyId=TEXT,
        agencyName=TEXT,
        agencyUrl=TEXT,
        tripId=TEXT,
        routeId=TEXT,
        routeType=COUNT,
        directionId=TEXT,
        routeShortName=TEXT,
        routeLongName=TEXT,
        tripShortName=TEXT,
        displayName=TEXT,
        pickupDropoffType=words("NORMAL NOT_ALLOWED"),
        cancelled=FLAG,
        tripCancelled=FLAG,
        bikesAllowed=FLAG,
        wheelchairAccessible=words("ACCESSIBLE NOT_ACCESSIBLE"),
        reservation=words("NONE COMPULSORY"),
        source=TEXT,
    ),
    "Area": shape("name adminLevel matched", name=TEXT, adminLevel=NUMBER, matched=FLAG, default=FLAG),
    "Match": shape(
        "type name id lat lon tokens areas score",
        type=words("ADDRESS PLACE STOP"),
        name=TEXT,
        id=TEXT,
        lat=NUMBER,
        lon=NUMBER,
        tokens=several(several(NUMBER)),
        areas=several(ref("Area")),
        score=NUMBER,
    ),
    "ServerConfig": shape(
        """motisVersion hasElevation hasRoutedTransfers hasStreetRouting maxOneToManySize maxOneToAllTravelTimeLimit
        maxPrePostTransitTimeLimit maxDirectTimeLimit shapesDebugEnabled""",
        motisVersion=TEXT,
        hasElevation=FLAG,
        hasRoutedTransfers=FLAG,
        hasStreetRouting=FLAG,
        maxOneToManySize=NUMBER,
        maxOneToAllTravelTimeLimit=NUMBER,
        maxPrePostTransitTimeLimit=NUMBER,
        maxDirectTimeLimit=NUMBER,
        shapesDebugEnabled=FLAG,
    ),
}

ANSWERS = {
    "plan": shape(
        "requestParameters debugOutput from to direct itineraries previousPageCursor nextPageCursor",
        requestParameters={"type": "object"},
        debugOutput={"type": "object"},
        **{"from": ref("Place")},
        to=ref("Place"),
        direct=several(ref("Itinerary")),
        itineraries=several(ref("Itinerary")),
        previousPageCursor=TEXT,
        nextPageCursor=TEXT,
    ),
    "stoptimes": shape(
        "stopTimes place previousPageCursor nextPageCursor",
        stopTimes=several(ref("StopTime")),
        place=ref("Place"),
        previousPageCursor=TEXT,
        nextPageCursor=TEXT,
    ),
    "map/stops": several(ref("Place")),
    "geocode": several(ref("Match")),
    "reverse-geocode": several(ref("Match")),
    "map/initial": shape(
        "lat lon zoom serverConfig", lat=NUMBER, lon=NUMBER, zoom=NUMBER, serverConfig=ref("ServerConfig")
    ),
}
