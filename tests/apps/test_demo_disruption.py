"""``fingerpost demo``: a normal trip and, with ``--disrupt``, the answer to a disruption."""

import json


def lines_of(body):
    return [[leg["line"] for leg in each["legs"] if "line" in leg] for each in body["itineraries"]]


def test_the_demo_plans_a_trip(invoke):
    body = json.loads(invoke("demo", "--json").stdout)
    assert {line for lines in lines_of(body) for line in lines} == {"M1", "M2"}
    assert "differences" not in body["meta"]


def test_the_disrupted_demo_shows_what_runs_and_why(invoke):
    body = json.loads(invoke("demo", "--disrupt", "--json").stdout)
    assert lines_of(body) == [["M2"]] * 3
    assert {each["cause"]["text"] for each in body["meta"]["differences"]} == {
        "Line M1 from Kamppi is cancelled (08:03)."
    }
    assert [alert["header"] for alert in body["meta"]["alerts"]] == ["Line M1 is closed", "Lift out of order: Kamppi"]
    assert body["realtimeUsed"] == "realtime"
    assert "[instead of a disrupted trip" in invoke("demo", "--disrupt").stdout
