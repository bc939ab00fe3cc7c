"""A database file about network addresses, in MaxMind's format.

The whole file is in memory, so a program may write it in place. It is read outside of the event loop; a file that
cannot be read leaves the one before in use.
"""

import asyncio
import logging
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import maxminddb

logger = logging.getLogger(__name__)

MOST_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True)
class _Version:
    """Facts about a file that change when it is replaced or written."""

    inode: int
    bytes: int
    nanoseconds: int


class AddressDatabase:
    """Opened by `read`; `setting` names the setting with its path."""

    def __init__(self, path: str, setting: str) -> None:
        self._path = Path(path)
        self._setting = setting
        self._reader: maxminddb.Reader | None = None
        self._version: _Version | None = None

    async def read(self) -> None:
        """Raises ValueError for a file that cannot be read."""
        self._version, self._reader = await asyncio.to_thread(self._opened)

    async def read_again(self) -> None:
        """Read the file if it changed; a failure is logged once for a file."""
        version = await asyncio.to_thread(self._seen)
        if version is None or version == self._version:
            return
        try:
            await self.read()
        except ValueError as error:
            self._version = version
            logger.warning("the earlier database stays in use: %s", error)
        else:
            logger.info("a database of network addresses was read again", extra={"path": str(self._path)})

    def find(self, address: str) -> object:
        """Return the record of an address, None without one."""
        if self._reader is None:
            return None
        try:
            return self._reader.get(address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            # A malformed address, an IPv6 address in a database of IPv4, or a damaged record.
            return None

    def _seen(self) -> _Version | None:
        try:
            return self._version_now()
        except OSError:
            return None

    def _version_now(self) -> _Version:
        found = self._path.stat()
        return _Version(found.st_ino, found.st_size, found.st_mtime_ns)

    def _opened(self) -> tuple[_Version, maxminddb.Reader]:
        try:
            version = self._version_now()
            if version.bytes > MOST_BYTES:
                raise ValueError(f"{self._setting}: expected at most {MOST_BYTES} bytes in {self._path}")
            content = BytesIO(self._path.read_bytes())
            return version, maxminddb.open_database(content, maxminddb.MODE_FD)
        except OSError as error:
            raise ValueError(f"{self._setting}: cannot read {self._path}: {error.strerror}") from error
        except maxminddb.InvalidDatabaseError as error:
            raise ValueError(f"{self._setting}: {self._path} is no database in MaxMind's format") from error
