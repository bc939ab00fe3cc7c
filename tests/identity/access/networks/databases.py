"""Database files in MaxMind's format."""

from collections.abc import Mapping
from pathlib import Path

from mmdb_writer import MMDBWriter
from netaddr import IPSet

HOME, AWAY, NOWHERE = "192.0.2.7", "198.51.100.1", "203.0.113.9"
HOME_NETWORK, AWAY_NETWORK = "192.0.2.0/24", "198.51.100.0/24"


def write(path: Path, records: Mapping[str, Mapping[str, object]], kind: str = "GeoLite2-Country") -> str:
    """Write a record for each network, replace the file atomically, and return its path."""
    writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type=kind)
    for network, record in records.items():
        writer.insert_network(IPSet([network]), record)
    beside = path.with_suffix(".new")
    writer.to_db_file(str(beside))
    beside.replace(path)
    return str(path)


def countries(path: Path, **codes: str) -> str:
    """Write the countries of `home` and `away`."""
    networks = {"home": HOME_NETWORK, "away": AWAY_NETWORK}
    return write(path, {networks[name]: {"country": {"iso_code": code}} for name, code in codes.items()})


def systems(path: Path, number: int) -> str:
    """Write the autonomous system of `AWAY`."""
    return write(path, {AWAY_NETWORK: {"autonomous_system_number": number}}, "GeoLite2-ASN")
