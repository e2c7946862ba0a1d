"""The clock is fixed on a summer morning in London: 09:00 there, 08:00 UTC."""

import pytest

NOW = "2026-06-10T08:00:00Z"


@pytest.fixture(autouse=True)
def _standing_clock(monkeypatch):
    monkeypatch.setenv("FINGERPOST_NOW", NOW)
