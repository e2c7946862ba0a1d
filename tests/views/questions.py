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
