"""Settings, read from ``FINGERPOST_*`` environment variables."""

import errno
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import AfterValidator, Field, SecretStr, StringConstraints, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from fingerpost.contract.check import explain
from fingerpost.errors import NotAccessible, SettingsInvalid
from fingerpost.store.limits import DEFAULT_CALLS_PER_SECOND
from fingerpost.transit.kernel_mode import use_kernels_folder

_PREFIX = "FINGERPOST_"

# One line of ASCII, because it is sent in a header.
_Contact = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[\x20-\x7e]*$")]

_Folder = Annotated[Path, AfterValidator(lambda folder: folder.expanduser().absolute())]


def _check_url(url: str) -> str:
    if re.fullmatch(r"(https?://[^\s/]+(/\S*)?)?", url) is None:
        # Do not quote the value, which may contain a key.
        raise ValueError("must be an address that begins with http:// or https://")
    return url


_Url = Annotated[str, AfterValidator(_check_url)]


class Settings(BaseSettings):
    """The operator's settings; an empty environment variable counts as unset.

    Attributes:
        home: the folder for networks, variables, plan runs and figures.
        user: the owner of variables and plan runs for callers without a token (rule A12).
        database_url: the URL, with password, of a PostgreSQL database for variables, rate limits and plan runs, which
            several machines can share; if unset, these are stored in the home folder. See docs/scale.md.
        retention_days: the number of days after which an unchanged variable is deleted; if unset, it is never deleted.
        contact: the operator's email address or URL, sent to sources in the User-Agent.
        sec_contact: the email address that EDGAR requires; if set, calls fetch companies that are not loaded.
        demo: when the demo networks answer: always (``on``), never (``off``), or until a network is added (``auto``).
        plan_journey_per_second: the maximum number of planJourney calls per second, in all processes that share the
            home folder or the database.
        log: the format of a server's log: ``text``, or ``json`` with one object per line (docs/telemetry.md).
        max_concurrent_calls: the maximum number of HTTP requests that a process answers at once; at most eight per
            caller on another machine.
        day_cache_mb: the memory, in MB, that a process may use to cache single-day timetables.
        tokens_file: a file with the SHA-256, subject and scopes of each accepted token; see docs/serving.md.
        token_issuer: the issuer whose JSON Web Tokens are accepted; it cannot be combined with a tokens file.
        token_keys_url: the URL of the issuer's keys (JWKS).
        resource_url: the public URL of this server, which is the audience of the issuer's tokens.
        token_scopes: the scopes that a token must have, separated by commas.
        private_hosts: hosts on private networks that may be contacted, separated by commas.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    home: _Folder = Field(default_factory=lambda: Path(platformdirs.user_data_dir("fingerpost", appauthor=False)))
    user: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] = "local"
    retention_days: Annotated[int, Field(ge=1, le=36_500)] | None = None

    database_url: SecretStr = SecretStr("")

    demo: Literal["auto", "on", "off"] = "auto"
    plan_journey_per_second: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_CALLS_PER_SECOND

    log: Literal["text", "json"] = "text"
    max_concurrent_calls: Annotated[int, Field(ge=1, le=10_000)] = 100

    day_cache_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 512

    tokens_file: Path | None = None
    token_issuer: _Url = ""
    token_keys_url: _Url = ""
    resource_url: _Url = ""
    token_scopes: Annotated[tuple[str, ...], NoDecode] = ()

    contact: _Contact = ""
    sec_contact: _Contact = ""
    private_hosts: Annotated[tuple[str, ...], NoDecode] = ()

    @field_validator("private_hosts", "token_scopes", mode="before")
    @classmethod
    def _split(cls, text: object) -> object:
        return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text

    @property
    def filings_file(self) -> Path:
        return self.home / "filings.sqlite"

    def prepare_home(self) -> None:
        """Create the home folder, and choose the folder for compiled kernels before numba is imported."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            if not os.access(self.home, os.R_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise NotAccessible(
                f"The home folder {self.home} cannot be used: {error.strerror}. Set {_PREFIX}HOME to a writable folder"
            ) from error
        use_kernels_folder()


def read_settings(**overrides: Any) -> Settings:
    """Read the settings; ``overrides`` that are not None take precedence over the environment."""
    try:
        return Settings(**{name: value for name, value in overrides.items() if value is not None})
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        raise SettingsInvalid(f"{_PREFIX}{name.upper()} is invalid: {explain(error, Settings).message}") from error
