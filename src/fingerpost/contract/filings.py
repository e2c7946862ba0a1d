"""Parameters of the filings tools (plan-step contract, rule F7), and the sentence that names a figure's source."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class FinancialFactsParams(BaseModel):
    """Parameters for financial facts queries; a date is a YYYY-MM-DD string or a ``date``."""

    model_config = ConfigDict(extra="forbid")

    ticker: str
    metrics: list[str]
    start_date: str
    end_date: str
    filing_type: str | None = None

    @field_validator("start_date", "end_date", mode="before")
    @classmethod
    def validate_date_format(cls, value: Any) -> str:
        """Return the date as a string; the contract prescribes the first two messages."""
        if isinstance(value, date):
            value = value.isoformat()
        if not isinstance(value, str) or not value.strip():
            raise ValueError("Date must be a non-empty string")
        if not _DAY.fullmatch(value):
            raise ValueError("Date must be in YYYY-MM-DD format")
        try:
            date.fromisoformat(value)
        except ValueError as error:
            raise ValueError("Date must be a valid calendar date") from error
        return value

    @model_validator(mode="after")
    def _start_before_end(self) -> Self:
        if self.start_date > self.end_date:
            raise ValueError("start_date must not be after end_date")
        return self


def format_source(source: Mapping[str, Any]) -> str:
    """Return the last line of an answer's text: the source of its figures and how current it is."""
    note = f" {source['note']}." if source.get("note") else ""
    retrieved = f", retrieved {source['retrieved_at']}" if source.get("retrieved_at") else ""
    return f"Source: SEC filings, {source['dataset']}, complete through {source['complete_through']}{retrieved}.{note}"
