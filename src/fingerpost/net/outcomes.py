"""Map HTTP statuses to errors, and decide which failures may be retried."""

from collections.abc import Collection
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fingerpost import errors
from fingerpost.net.response import Response

# The wait after a 429 response without Retry-After.
_DEFAULT_WAIT_S = 5.0
_MAX_WAIT_S = 86_400.0
_PARTIAL = 206
_TRANSIENT = frozenset({500, 502, 503, 504})


def find_retry_after(value: str | None, now: datetime) -> float | None:
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        wait_s = float(text)
    elif (instant := _read_date(text)) is not None:
        wait_s = (instant - now).total_seconds()
    else:
        return None
    return min(max(0.0, wait_s), _MAX_WAIT_S)


def find_failure(response: Response, now: datetime, settings: Collection[str] = ()) -> errors.StorageUnavailable | None:
    """Return the error for a response's status, or None; ``settings`` names the variables that hold the keys."""
    status = response.status
    if 200 <= status < 300 and status != _PARTIAL:
        return None
    host = response.host
    # If the response has a Date header, the wait is relative to the source's clock.
    sent_at = _read_date(response.headers.get("date", "")) or now
    wait_s = find_retry_after(response.headers.get("retry-after"), sent_at)
    details = {"status": status}
    if status == 429 or (status in (403, 503) and wait_s is not None):
        return errors.SourceLimited(
            f"{host} is limiting requests (HTTP {status})", retry_after_s=_DEFAULT_WAIT_S if wait_s is None else wait_s
        )
    if status in (401, 403, 407):
        return errors.SourceKeyRefused(
            f"{host} refused the request (HTTP {status}): a key is missing or was not accepted",
            details,
            hint=errors.Remedy(errors.RemedyKind.SET_KEY, {"settings": " or ".join(sorted(settings))})
            if settings
            else None,
        )
    if status in (408, 504):
        return errors.SourceTimeout(f"{host} took too long (HTTP {status})", details)
    return errors.SourceFailed(f"{host} returned an error (HTTP {status})", details, retryable=status in _TRANSIENT)


def may_retry(error: errors.ToolError, remaining_s: float) -> bool:
    """Whether a failed request may be retried in the remaining time; the limiter enforces Retry-After."""
    if isinstance(error, errors.SourceLimited):
        return error.retry_after_s < remaining_s
    return error.retryable


def _read_date(text: str) -> datetime | None:
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    return instant.replace(tzinfo=instant.tzinfo or UTC)
