"""Build requests to EDGAR, limit their rate, and recognize its error pages.

The SEC's fair access rules require a User-Agent with a contact, and allow each user ten requests per second across
all machines. Faster callers are blocked for ten minutes and get an HTML page instead of the API's response.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fingerpost.errors import DataNotFound, SourceKeyRefused, SourceLimited, ToolError
from fingerpost.net.limiter import Pace
from fingerpost.net.request import Request, RequestLimits
from fingerpost.net.response import Response

CONTACT_SETTING = "FINGERPOST_SEC_CONTACT"

# One request at a time, and at most eight per second across all processes.
PACE = Pace(name="edgar", per_second=8, burst=1)
PACES: Mapping[str, Pace] = {"data.sec.gov": PACE, "www.sec.gov": PACE}

_BLOCKED_S = 600.0
_BLOCK_PAGE = b"request rate threshold"
_UNDECLARED = b"undeclared automated tool"
_LIMITS = RequestLimits(connect_s=10.0, read_s=30.0, total_s=120.0, max_bytes=200_000_000, attempts=4)
_HINT = f"Set {CONTACT_SETTING} to an e-mail address at which the SEC can reach you"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edgar:
    """Build requests to EDGAR. ``data`` and ``www`` are the base URLs of its two hosts."""

    contact: str
    data: str = "https://data.sec.gov"
    www: str = "https://www.sec.gov"

    def __post_init__(self) -> None:
        if not self.contact.strip():
            raise SourceKeyRefused(
                f"EDGAR requires a contact address, and {CONTACT_SETTING} is not set",
                {"setting": CONTACT_SETTING},
                hint=_HINT,
            )

    def build_tickers_request(self) -> Request:
        return self._build_request(f"{self.www}/files/company_tickers.json")

    def request_submissions(self, cik: int) -> Request:
        return self._build_request(f"{self.data}/submissions/CIK{cik:010d}.json")

    def request_facts(self, cik: int) -> Request:
        return self._build_request(f"{self.data}/api/xbrl/companyfacts/CIK{cik:010d}.json")

    def request_document(self, cik: int, accession: str, document: str) -> Request:
        return self._build_request(f"{self.www}/Archives/edgar/data/{cik}/{accession.replace('-', '')}/{document}")

    def _build_request(self, url: str) -> Request:
        return Request(
            url=url, headers={"user-agent": f"fingerpost {self.contact}"}, check_response=read_refusal, limits=_LIMITS
        )


def read_refusal(response: Response) -> ToolError | None:
    """Return the error that a response signals, or None.

    The rate-limit page comes with various status codes; 404 means that the file does not exist.
    """
    start = response.body[:20_000].lower() if response.body.lstrip()[:1] == b"<" else b""
    if _BLOCK_PAGE in start:
        return SourceLimited(
            "EDGAR has blocked this address for a while, because it sent too many requests", retry_after_s=_BLOCKED_S
        )
    if _UNDECLARED in start or (response.status == 403 and "retry-after" not in response.headers):
        return SourceKeyRefused(
            f"EDGAR refused the request (HTTP {response.status}): it does not accept the contact address", hint=_HINT
        )
    if response.status == 404:
        return DataNotFound("EDGAR has no such file", {"url": response.redacted_url})
    return None
