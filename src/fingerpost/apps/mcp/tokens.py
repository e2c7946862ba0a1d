"""Verify bearer tokens from a file, or JSON Web Tokens from one issuer (RFC 9068)."""

import asyncio
import hashlib
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import jwt
from mcp.server.auth.provider import AccessToken, TokenVerifier
from starlette.authentication import AuthenticationError

from fingerpost.apps.settings import Settings
from fingerpost.apps.storage import new_client
from fingerpost.errors import SettingsInvalid
from fingerpost.net.request import Request
from fingerpost.net.response import Response

_log = logging.getLogger(__name__)

_ALGORITHMS: Final = ("RS256", "ES256", "EdDSA")
_REQUIRED_CLAIMS = ["iss", "aud", "exp", "sub"]
_LEEWAY_S = 60
_REFRESH_S = 600
_FETCH_PAUSE_S = 60
# Most tokens expire sooner, so few are still valid after an issuer has been down for this long.
_KEYS_MAX_AGE_S = 3600
_FETCH_S = 5.0
_MAX_SUBJECT_CHARS = 200
_LINE = re.compile(r"([0-9a-fA-F]{64})\s+(\S+)((?:\s+\S+)*)\s*")


def open_verifier(settings: Settings) -> TokenVerifier | None:
    """Return the verifier that the settings select, or None; raise SettingsInvalid if they are invalid."""
    issuer_settings = (settings.token_issuer, settings.token_keys_url, settings.resource_url)
    if settings.tokens_file is not None:
        if settings.token_issuer:
            raise SettingsInvalid("Set either FINGERPOST_TOKENS_FILE or FINGERPOST_TOKEN_ISSUER, not both")
        return FileTokens(settings.tokens_file)
    if not any(issuer_settings):
        return None
    if not all(issuer_settings):
        raise SettingsInvalid(
            "Tokens from an issuer need FINGERPOST_TOKEN_ISSUER, FINGERPOST_TOKEN_KEYS_URL and "
            "FINGERPOST_RESOURCE_URL. Set all three"
        )

    async def fetch(request: Request) -> Response:
        async with new_client(settings) as client:
            return await client.fetch(request)

    return IssuedTokens(*issuer_settings, fetch, settings.user)


class FileTokens:
    """Verifies the tokens in a file; each line contains the SHA-256 of a token, its subject, and any scopes."""

    def __init__(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsInvalid(f"The token file {path} cannot be read: {error}") from error
        self._tokens: list[tuple[bytes, str, list[str]]] = []
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            parsed = _LINE.fullmatch(line)
            if parsed is None:
                raise SettingsInvalid(
                    f"Line {number} of {path} is not a token. Write the SHA-256 of a token, its subject, and any scopes"
                )
            self._tokens.append((bytes.fromhex(parsed[1]), parsed[2], parsed[3].split()))

    async def verify_token(self, token: str) -> AccessToken | None:
        digest = hashlib.sha256(token.encode()).digest()
        for stored_digest, subject, scopes in self._tokens:
            if hmac.compare_digest(stored_digest, digest):
                return AccessToken(token=token, client_id=subject, subject=subject, scopes=scopes)
        return None


@dataclass
class IssuedTokens:
    """Verifies JSON Web Tokens from one issuer for one audience.

    Keys are fetched every ten minutes, and at most once a minute for an unknown key id. During a fetch, tokens are
    verified with known keys that are less than twenty minutes old; tokens with other keys wait. If the fetch
    fails, known keys are used for an hour. A key set without usable keys revokes all known keys.
    """

    issuer: str
    keys_url: str
    audience: str
    fetch: Callable[[Request], Awaitable[Response]]
    local_user: str
    _keys: dict[str | None, jwt.PyJWK] = field(default_factory=dict)
    _fetched_at_s: float = float("-inf")
    _next_fetch_at_s: float = float("-inf")
    _fetching: asyncio.Task[bool] = field(init=False)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return a valid token's claims, or None; raise AuthenticationError if the keys cannot be fetched."""
        try:
            key = await self._find_key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token, key, algorithms=_ALGORITHMS, audience=self.audience, issuer=self.issuer, leeway=_LEEWAY_S,
                options={"require": _REQUIRED_CLAIMS},
            )  # fmt: skip
        except jwt.PyJWTError as error:
            _log.info("a token was refused: %s", type(error).__name__)
            return None
        subject, scope = claims["sub"], claims.get("scope", "")
        # Databases reject some control characters and lone surrogates.
        is_usable = 0 < len(subject) <= _MAX_SUBJECT_CHARS and subject.isprintable()
        if not is_usable or not isinstance(scope, str):
            return None
        if subject == self.local_user:
            _log.warning("a token was refused: its subject is the user of this machine (FINGERPOST_USER)")
            return None
        return AccessToken(token=token, client_id=subject, subject=subject, scopes=scope.split())

    async def _find_key(self, key_id: str | None) -> jwt.PyJWK | None:
        now_s = time.monotonic()
        key, age_s = self._keys.get(key_id), now_s - self._fetched_at_s
        if (key is None or age_s > _REFRESH_S) and now_s >= self._next_fetch_at_s:
            self._next_fetch_at_s = now_s + _FETCH_PAUSE_S
            self._fetching = asyncio.create_task(self._fetch_keys())
        if key is not None and age_s < 2 * _REFRESH_S:
            return key
        # Shield the fetch, because other callers may be waiting for it.
        has_fetched = await asyncio.shield(self._fetching)
        key = self._keys.get(key_id)
        if not has_fetched and (key is None or age_s > _KEYS_MAX_AGE_S):
            raise AuthenticationError("The token keys cannot be fetched; retry later")
        return key

    async def _fetch_keys(self) -> bool:
        """Replace the keys; return False if that fails."""
        try:
            async with asyncio.timeout(_FETCH_S):
                response = await self.fetch(Request(url=self.keys_url))
            self._keys = _parse_keys(response.body)
        except Exception as error:  # noqa: BLE001  # an issuer may send any JSON
            _log.warning("the token keys cannot be fetched: %s", str(error) or f"no answer within {_FETCH_S:g} s")
            return False
        self._fetched_at_s = time.monotonic()
        return True


def _parse_keys(body: bytes) -> dict[str | None, jwt.PyJWK]:
    keys: dict[str | None, jwt.PyJWK] = {}
    for member in json.loads(body)["keys"]:
        try:
            key = jwt.PyJWK(member)
            keys[key.key_id] = key
        except Exception as error:  # noqa: BLE001  # PyJWT does not check the types of a key
            # The error's message may contain the key.
            _log.warning("a token key that cannot be used is skipped: %s", type(error).__name__)
    return keys
