"""Settings, read from ``FINGERPOST_*`` environment variables."""

import errno
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import platformdirs
from pydantic import Field, SecretStr, StringConstraints, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from fingerpost.contract.check import explain
from fingerpost.errors import SettingsInvalid
from fingerpost.transit.kernel_mode import use_kernels_folder
from fingerpost.transit.tools.call_limit import DEFAULT_PER_SECOND

_PREFIX = "FINGERPOST_"
_MAX_RETENTION_DAYS = 36_500

# It is sent as a header: one line of ASCII.
_Contact = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[\x20-\x7e]*$")]

_Url = Annotated[str, StringConstraints(pattern=r"^(https?://[^\s/]+(/\S*)?)?$")]


class Settings(BaseSettings):
    """The operator's choices; an empty variable counts as unset.

    Attributes:
        home: the folder that holds networks, variables, plan runs and figures.
        user: the owner of variables if no token names the caller (rule A12).
        database_url: a PostgreSQL database that stores variables, rate limits and plan runs for many machines, with its
            password; empty for the home folder's files. See docs/scale.md.
        retention_days: days until an unchanged variable is deleted; None never deletes it.
        runs_retention_days: days until an ended plan run is deleted; None never deletes it.
        contact: an address by which the operators of sources can reach ours; part of the User-Agent.
        sec_contact: an e-mail address by which the SEC can reach whoever syncs filings; EDGAR wants one.
        llm_url: an OpenAI-compatible endpoint that may write plans; empty for none.
        llm_model: the model to ask there.
        llm_key: its key, from the environment alone.
        demo: when the demo networks answer: ``auto`` while no network has been added, ``on`` or ``off``.
        plan_journey_per_second: how many calls of planJourney the processes of this home, or of this
            database, answer within a second.
        max_concurrent_calls: how many requests a process answers at a time over HTTP, of one caller eight.
        day_cache_mb: how many megabytes the timetables that a process prepares for single days may take; the least
            recently used go first.
        tokens_file: has the SHA-256, subject and scopes of each token that HTTP callers may send; see docs/serving.md.
        token_issuer: who issues JSON Web Tokens instead; empty where no issuer does.
        token_keys_url: where the issuer publishes its keys (JWKS).
        resource_url: the URL by which clients call this server; the audience of the issuer's tokens.
        token_scopes: what a token must allow, separated by commas.
        private_hosts: hosts in a private network that may be contacted, separated by commas.
        tiles: the address of map tiles for the web page, with {z}, {x} and {y}; empty for none.
        tiles_attribution: the attribution of the tiles.
    """

    model_config = SettingsConfigDict(env_prefix=_PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    home: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("fingerpost", appauthor=False)))
    user: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] = "local"
    retention_days: Annotated[int, Field(ge=1, le=_MAX_RETENTION_DAYS)] | None = None

    runs_retention_days: Annotated[int, Field(ge=1, le=_MAX_RETENTION_DAYS)] | None = None
    database_url: SecretStr = SecretStr("")

    demo: Literal["auto", "on", "off"] = "auto"
    plan_journey_per_second: Annotated[int, Field(ge=1, le=1000)] = DEFAULT_PER_SECOND

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

    tiles: str = ""
    tiles_attribution: str = ""

    llm_url: str = ""
    llm_model: str = ""
    llm_key: SecretStr = SecretStr("")

    @field_validator("private_hosts", "token_scopes", mode="before")
    @classmethod
    def _split(cls, text: object) -> object:
        return tuple(part.strip() for part in text.split(",") if part.strip()) if isinstance(text, str) else text

    @field_validator("home", mode="after")
    @classmethod
    def _full_path(cls, folder: Path) -> Path:
        return folder.expanduser().absolute()

    @property
    def filings_file(self) -> Path:
        return self.home / "filings.sqlite"

    def prepare_home(self) -> None:
        """Create the home folder, and choose the folder of compiled kernels before numba is imported."""
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            if not os.access(self.home, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            raise SettingsInvalid(
                f"The home folder {self.home} cannot be used: {error.strerror}. "
                f"Set {_PREFIX}HOME to a folder that you may write to"
            ) from error
        use_kernels_folder()


def read_settings(**given: Any) -> Settings:
    """Read the settings; ``given`` values that are not None take precedence over the environment."""
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        name = str(error.errors(include_url=False)[0]["loc"][0])
        sentence = explain(error, Settings).message
        raise SettingsInvalid(f"{_PREFIX}{name.upper()} is not usable: {sentence}") from error
    return settings
