"""Questions that the demo networks can answer."""

KAMPPI_TO_ESPOO = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
AMBIGUOUS = {"origin": {"type": "label", "value": "kamp"}, "destination": {"type": "label", "value": "Espoo"}}
KAMPPI = "DEMO-HELSINKI:KAMPPI"
FACTS = {"ticker": "AAPL", "metrics": ["Revenue"], "period": "2022"}
AT_EIGHT = "2026-03-10T08:00:00+02:00"


def label(text):
    return {"type": "label", "value": text}


def text(raw_text):
    return {"rawText": raw_text}


def figures(query_type, **parameters):
    return {"query_type": query_type, "parameters": parameters}


# Failing, empty and partial answers of each tool, and sound ones that say something beside the value.
CASES = [
    ("plan_trip", {"origin": label("Rautatie"), "destination": label("Kamppi")}),
    ("plan_trip", {"origin": label("Xyzzyville"), "destination": label("Kamppi")}),
    ("plan_trip", {"origin": label("Kamppi"), "destination": label("Pasila"), "limit": 1}),
    ("get_departures", {"stop": label("Rautatie")}),
    ("get_departures", {"stop": label("Kamppi"), "limit": 1}),
    ("check_trip", {"refs": ["DEMO-HELSINKI:KAMPPI|:RAUTATIENTORI|20260310.21600.120|:M2-1"]}),
    ("check_trip", {"refs": ["Kamppi"]}),
    ("findAddressOrStop", {"rawText": "Rautatie"}),
    ("findAddressOrStop", {"rawText": "Xyzzyville"}),
    ("find_stops", {"coordinate": {"lat": 0.0, "lon": 0.0}}),
    ("find_stops", {"coordinate": {"lat": 60.1688, "lon": 24.9316}, "radius": 1, "textFilter": "Xyzzy"}),
    ("planRoute", {"origin": text("Rautatie"), "destination": text("Kamppi"), "departureTime": AT_EIGHT}),
    ("planRoute", {"origin": text("Kamppi"), "destination": text("Pasila"), "departureTime": "2001-01-01T08:00:00Z"}),
    ("planRoute", {"origin": text("Kamppi"), "destination": text("Pasila"), "departureTime": AT_EIGHT}),
    ("getStopTimetable", {"stopId": "DEMO-HELSINKI:KAMPPI", "at": AT_EIGHT, "maxDepartures": 9}),
    ("getStopTimetable", {"stopId": "NOBODY:1"}),
    ("planJourney", {"from": "Kings", "to": "Bank"}),
    ("planJourney", {"from": "Waterloo", "to": "Bank"}),
    ("save_user_variable", {"key": "note", "type": "other", "value": "x" * 20_000}),
    ("get_user_variables", {}),
    ("delete_user_variable", {"key": "nothing of that name"}),
    ("sec_financial_data", figures("compare", tickers=["AAPL", "ZZZQ"], metrics=["Revenue"], period="2022")),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"metrics": ["Revenu"]})),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"metrics": ["Revenue", "Revenu"]})),
    ("sec_financial_data", figures("financial_facts", **FACTS | {"ticker": "ZZZQ"})),
    ("sec_financial_data", figures("company_info", ticker="AAPL", as_of="2022-01-01")),
    ("sec_financial_data", figures("custom_sql", sql_query="SELECT nothing FROM nowhere")),
    ("sec_graph_query", figures("company_filings", ticker="ZZZQ")),
    ("sec_graph_query", figures("company_filings", ticker="AAPL")),
    ("sec_semantic_search", figures("semantic_search", query="supply chain risk")),
    ("tool_details", {"tool_name": "plan_trop"}),
]  # fmt: skip
