"""One query for each tool with a view, which the demo networks and the sample figures can answer."""

BOARD = {"stop": {"type": "label", "value": "Kamppi"}, "windowMinutes": 60}
TRIP = {
    "origin": {"type": "label", "value": "Kamppi"},
    "destination": {"type": "coords", "value": {"lat": 60.2055, "lon": 24.6559}},
    "limit": 3,
}
FIGURES = {"query_type": "time_series", "parameters": {"ticker": "AAPL", "metric": "Revenue", "period": "annual"}}
# The answers to these have other shapes, and times in UTC.
ROUTE = {"origin": {"rawText": "Kamppi"}, "destination": {"rawText": "Espoo"}, "departureTime": "2026-03-10T06:00:00Z"}
TIMETABLE = {"stopId": "DEMO-HELSINKI:KAMPPI", "maxDepartures": 5}
JOURNEY = {"from": "Waterloo", "to": "Paddington"}

QUESTIONS = {
    "get_departures": BOARD,
    "plan_trip": TRIP,
    "sec_financial_data": FIGURES,
    "planRoute": ROUTE,
    "planJourney": JOURNEY,
    "getStopTimetable": TIMETABLE,
}
