"""Passwords that are known from breaches of other services: NIST SP 800-63B-4 §3.1.1.2.

The list is queried by k-anonymity: it learns the first five of the forty digits of the password's SHA-1 hash, and
returns the rest of every hash that begins with them. Neither the password nor the digits are logged. While the list does
not answer, passwords are accepted and counted: another party's service must not decide whether users get an account.
"""

import hashlib
import logging
import mmap
import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from identity.directory.password_config import PasswordConfig
from server.platform.clock import Clock
from server.platform.errors import ResourceExhausted
from server.platform.threads import Threads

logger = logging.getLogger(__name__)

_PREFIX = 5
_DIGITS = 40
_OK = 200

# An answer has about a thousand lines of 40 octets.
_MAX_OCTETS = 262_144
_MOST_CONNECTIONS = 8
MOST_KEPT = 64
_KEPT_FOR = timedelta(hours=1)
# After a failure no further request waits for a while.
_PAUSE = timedelta(seconds=30)

_MOST_WAITING = 200


class BreachList(Protocol):
    @property
    def unchecked(self) -> int:
        """Number of passwords that were accepted because the list did not answer."""
        ...

    async def has(self, password: str) -> bool: ...


class NoBreachList:
    """No list is configured."""

    unchecked = 0

    async def has(self, _password: str) -> bool:
        return False


class BreachService:
    """A service with the interface of Have I Been Pwned, version 3: `GET {url}{first five digits}`."""

    def __init__(self, session: ClientSession, url: str, clock: Clock) -> None:
        self._session = session
        self._url = url
        self._clock = clock
        self._kept: OrderedDict[str, _Range] = OrderedDict()
        self._paused_until: datetime | None = None
        self.unchecked = 0

    async def has(self, password: str) -> bool:
        digits = _sha1(password)
        suffixes = await self._suffixes(digits[:_PREFIX])
        if suffixes is None:
            self.unchecked += 1
            return False
        return digits[_PREFIX:] in suffixes

    async def _suffixes(self, prefix: str) -> frozenset[str] | None:
        now = self._clock.now()
        kept = self._kept.get(prefix)
        if kept is not None and now < kept.until:
            self._kept.move_to_end(prefix)
            return kept.suffixes
        if self._paused_until is not None and now < self._paused_until:
            return None
        try:
            suffixes = _read(await self._answer(prefix))
        except (ClientError, OSError, TimeoutError, ValueError) as error:
            # The text of the error contains the address, and thus the digits.
            logger.warning(
                "passwords are not checked against the list of breached ones, because it does not respond",
                extra={"error": type(error).__name__, "pause_secs": _PAUSE.total_seconds()},
            )
            self._paused_until = now + _PAUSE
            return None
        self._keep(prefix, _Range(suffixes, now + _KEPT_FOR))
        return suffixes

    async def _answer(self, prefix: str) -> str:
        """Raises ClientError, OSError, TimeoutError, ValueError."""
        # With padding, an observer of the connection learns nothing from the length of the answer.
        headers = {"Add-Padding": "true", "Accept-Encoding": "identity", "User-Agent": "gnomon"}
        async with self._session.get(self._url + prefix, headers=headers, allow_redirects=False) as response:
            return (await _body(response)).decode("ascii")

    def _keep(self, prefix: str, found: "_Range") -> None:
        self._kept[prefix] = found
        self._kept.move_to_end(prefix)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


class BreachFile:
    """A file with a line `HASH` or `HASH:COUNT` for each password, sorted, as the downloaders of such lists write it.

    Raises OSError, or ValueError for an empty file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._threads = Threads("look-ups of breached passwords", 1, most_waiting=_MOST_WAITING)
        self.unchecked = 0

    async def has(self, password: str) -> bool:
        try:
            return await self._threads.run(self._has, _sha1(password).encode())
        except ResourceExhausted:
            self.unchecked += 1
            return False

    def close(self) -> None:
        self._threads.close()

    def _has(self, digits: bytes) -> bool:
        # Invariant: the line, if it exists, begins in low … high.
        low, high = 0, len(self._lines)
        while low < high:
            start = self._lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
            found = self._lines[start : start + _DIGITS].upper()
            if found == digits:
                return True
            if found < digits:
                end = self._lines.find(b"\n", start, high)
                low = high if end < 0 else end + 1
            else:
                high = start
        return False


@asynccontextmanager
async def breach_list(config: PasswordConfig, clock: Clock) -> AsyncIterator[BreachList]:
    """Raises ValueError for a file that cannot be read."""
    if config.breach_file:
        file = _opened(Path(config.breach_file))
        try:
            yield file
        finally:
            file.close()
    elif config.breach_url:
        async with ClientSession(
            connector=TCPConnector(limit=_MOST_CONNECTIONS),
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=config.breach_timeout_secs),
            auto_decompress=False,
        ) as session:
            yield BreachService(session, config.breach_url, clock)
    else:
        yield NoBreachList()


@dataclass(frozen=True, slots=True)
class _Range:
    suffixes: frozenset[str]
    until: datetime


def _sha1(password: str) -> str:
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


def _read(answer: str) -> frozenset[str]:
    """Raises ValueError for an answer that such a service would not send; lines with a count of 0 are padding."""
    lines = [line.partition(":") for line in answer.split()]
    if any(len(suffix) != _DIGITS - _PREFIX or not count.isdecimal() for suffix, _, count in lines):
        raise ValueError("expected lines of 35 digits and a count")
    return frozenset(suffix.upper() for suffix, _, count in lines if int(count))


async def _body(response: ClientResponse) -> bytes:
    """Raises ValueError for an error status, or for an answer that is too large."""
    if response.status != _OK:
        raise ValueError("expected status 200")
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > _MAX_OCTETS:
            raise ValueError("expected a shorter answer")
    return bytes(body)


def _opened(path: Path) -> BreachFile:
    try:
        return BreachFile(path)
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise ValueError(f"passwords.breach_file: {path}: {reason}") from error
