"""Countries and autonomous systems of addresses, from local files."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from identity.access.networks.config import NetworksConfig
from identity.access.networks.database import AddressDatabase

_CODE_LENGTH = 2
# RFC 6793: numbers of 32 bits.
_MOST_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Network:
    """`country` is an ISO 3166 code; it is empty, and `asn` 0, when unknown."""

    country: str = ""
    asn: int = 0


class Networks:
    """Without a database nothing is known."""

    def __init__(self, config: NetworksConfig) -> None:
        self._countries = _database(config.country_database, "networks.country_database")
        self._systems = _database(config.asn_database, "networks.asn_database")
        self._reread_secs = config.reread_secs

    async def open(self) -> None:
        """Raises ValueError for a file that cannot be read."""
        for database in self._databases():
            await database.read()

    async def run(self) -> None:
        """Read changed files again until cancelled."""
        while True:
            await asyncio.sleep(self._reread_secs)
            await self.read_again()

    async def read_again(self) -> None:
        for database in self._databases():
            await database.read_again()

    def of(self, address: str) -> Network:
        return Network(
            _country(self._countries.find(address)) if self._countries is not None else "",
            _asn(self._systems.find(address)) if self._systems is not None else 0,
        )

    def _databases(self) -> list[AddressDatabase]:
        return [each for each in (self._countries, self._systems) if each is not None]


def _database(path: str, setting: str) -> AddressDatabase | None:
    return AddressDatabase(path, setting) if path else None


def _country(record: object) -> str:
    """Return the code; some databases have a text where MaxMind's have a map."""
    if not isinstance(record, Mapping):
        return ""
    country = record.get("country", record.get("country_code"))
    code = country.get("iso_code") if isinstance(country, Mapping) else country
    return code.upper() if isinstance(code, str) and len(code) == _CODE_LENGTH and code.isalpha() else ""


def _asn(record: object) -> int:
    """Return the number; some databases have a text like AS64496."""
    if not isinstance(record, Mapping):
        return 0
    number = record.get("autonomous_system_number", record.get("asn", 0))
    if isinstance(number, str):
        digits = number.upper().removeprefix("AS")
        number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0
    return number if isinstance(number, int) else 0
