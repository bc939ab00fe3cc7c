"""Settings of rules about countries and autonomous systems."""

import re
from dataclasses import dataclass

_COUNTRY = re.compile(r"[A-Z]{2}")
_AS_NUMBERS = range(1, 2**32)
_REREAD_SECS = range(1, 86_401)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworksConfig:
    """[networks]: countries and autonomous systems from which users may use the provider.

    `country_database` and `asn_database` are files in MaxMind's format (.mmdb), which are read again when they change,
    within `reread_secs`. `allowed_countries` or `denied_countries` are ISO 3166 codes, `denied_asns` numbers.
    `denies_unknown_country` is for addresses that the database does not have. With `covers_clients` the rules also hold
    for the endpoints of clients, like the token endpoint. `events.login_protection.allowed_networks` are never refused.
    """

    country_database: str = ""
    asn_database: str = ""
    allowed_countries: tuple[str, ...] = ()
    denied_countries: tuple[str, ...] = ()
    denied_asns: tuple[int, ...] = ()
    denies_unknown_country: bool = False
    covers_clients: bool = False
    reread_secs: int = 60

    def __post_init__(self) -> None:
        self._check_values()
        if self.allowed_countries and self.denied_countries:
            raise ValueError("networks: expected allowed_countries or denied_countries, found both")
        if self.has_country_rule and not self.country_database:
            raise ValueError("networks.country_database: expected a file for the rules about countries")
        if self.denied_asns and not self.asn_database:
            raise ValueError("networks.asn_database: expected a file for networks.denied_asns")

    def _check_values(self) -> None:
        for code in (*self.allowed_countries, *self.denied_countries):
            if _COUNTRY.fullmatch(code) is None:
                raise ValueError(f"networks: expected ISO 3166 codes of two capital letters, found {code!r}")
        for number in self.denied_asns:
            if number not in _AS_NUMBERS:
                raise ValueError(f"networks.denied_asns: expected 1 to 4294967295, found {number}")
        if self.reread_secs not in _REREAD_SECS:
            raise ValueError(f"networks.reread_secs: expected 1 to 86400, found {self.reread_secs}")

    @property
    def has_country_rule(self) -> bool:
        return bool(self.allowed_countries or self.denied_countries) or self.denies_unknown_country

    def refuses_country(self, code: str) -> bool:
        """Whether users from a country are refused; the code is empty for an unknown country."""
        if not code:
            return self.denies_unknown_country
        if self.allowed_countries:
            return code not in self.allowed_countries
        return code in self.denied_countries
