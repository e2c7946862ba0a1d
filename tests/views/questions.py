"""One question for each view, which the demo networks and the sample figures can answer."""

BOARD = {"stop": {"type": "label", "value": "Kamppi"}, "windowMinutes": 60}
TRIP = {
    "origin": {"type": "label", "value": "Kamppi"},
    "destination": {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}},
    "limit": 3,
}
FIGURES = {"query_type": "time_series", "parameters": {"ticker": "AAPL", "metric": "Revenue", "period": "annual"}}
QUESTIONS = {
    "board": ("get_departures", BOARD),
    "trip": ("plan_trip", TRIP),
    "figures": ("sec_financial_data", FIGURES),
}

# A view draws these too; their answers have other shapes, and times in UTC.
ROUTE = {
    "origin": {"rawText": "Kamppi"},
    "destination": {"rawText": "Espoo"},
    "departureTime": "2026-03-10T06:00:00Z",
}
TIMETABLE = {"stopId": "DEMO-HELSINKI:KAMPPI", "maxDepartures": 5}
JOURNEY = {"from": "Waterloo", "to": "Paddington"}
OTHER_QUESTIONS = {
    "planRoute": ("trip", ROUTE),
    "planJourney": ("trip", JOURNEY),
    "getStopTimetable": ("board", TIMETABLE),
}
