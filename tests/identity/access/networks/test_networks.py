import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Network, Networks
from tests.identity.access.networks.databases import AWAY, HOME, NOWHERE, countries, systems, write
from tests.identity.deployment import CONFIG, deployed
from tests.waits import until


async def opened(**settings: str) -> Networks:
    networks = Networks(NetworksConfig(**settings))  # type: ignore[arg-type]  # paths
    await networks.open()
    return networks


async def test_a_network_is_found_in_the_files(tmp_path: Path) -> None:
    networks = await opened(
        country_database=countries(tmp_path / "countries.mmdb", home="DE", away="FR"),
        asn_database=systems(tmp_path / "systems.mmdb", 64_496),
    )

    assert networks.of(HOME) == Network("DE", 0)
    assert networks.of(AWAY) == Network("FR", 64_496)
    assert [networks.of(address) for address in (NOWHERE, "2001:db8::1", "", "no address")] == [Network()] * 4


async def test_without_files_nothing_is_known() -> None:
    networks = await opened()

    await networks.read_again()

    assert networks.of(HOME) == Network()


@pytest.mark.parametrize(
    ("record", "network"),
    [
        ({"country_code": "de", "asn": "AS64496"}, Network("DE", 64_496)),
        ({"country": "DE", "asn": 64_496}, Network("DE", 64_496)),
        ({"country": "Germany", "asn": "AS1e5"}, Network()),
        ({"country": {"names": {"en": "Germany"}}, "asn": "AS" + "9" * 20}, Network()),
        ({"country": {"iso_code": 49}, "autonomous_system_number": "many"}, Network()),
    ],
)
async def test_files_of_other_vendors_are_read(
    tmp_path: Path, record: dict[str, object], network: Network
) -> None:
    path = write(tmp_path / "both.mmdb", {"192.0.2.0/24": record})

    networks = await opened(country_database=path, asn_database=path)

    assert networks.of(HOME) == network


async def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "countries.mmdb"
    networks = await opened(country_database=countries(path, home="DE"))

    countries(path, home="FR", away="ES")
    before = networks.of(HOME)
    await networks.read_again()

    assert before == Network("DE")
    assert [networks.of(address).country for address in (HOME, AWAY)] == ["FR", "ES"]


async def test_the_file_is_read_again_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "countries.mmdb"
    networks = Networks(NetworksConfig(country_database=countries(path, home="DE"), reread_secs=1))
    await networks.open()
    countries(path, home="FR", away="ES")

    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(networks.run())
        await until(lambda: networks.of(HOME).country == "FR")
        running.cancel()

    assert networks.of(AWAY).country == "ES"


@pytest.mark.parametrize("content", [b"", b"no database", b"\xab\xcd\xefMaxMind.com"])
async def test_a_broken_replacement_leaves_the_earlier_file_in_use(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "countries.mmdb"
    networks = await opened(country_database=countries(path, home="DE"))
    path.write_bytes(content)

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            await networks.read_again()

    assert networks.of(HOME) == Network("DE")
    (record,) = caplog.records
    assert "the earlier database stays in use" in record.getMessage()
    assert str(path) in record.getMessage()
    countries(path, home="FR", away="ES")
    await networks.read_again()
    assert networks.of(HOME) == Network("FR")


async def test_a_file_that_is_cut_in_place_harms_nobody(tmp_path: Path) -> None:
    path = tmp_path / "countries.mmdb"
    networks = await opened(country_database=countries(path, home="DE"))

    path.write_bytes(path.read_bytes()[:100])

    assert networks.of(HOME) == Network("DE")
    path.unlink()
    await networks.read_again()
    assert networks.of(HOME) == Network("DE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"networks\.country_database: cannot read .*missing\.mmdb: No such file"),
        (b"no database", r"networks\.country_database: .*missing\.mmdb is no database in MaxMind's format"),
    ],
)
async def test_the_provider_does_not_start_without_the_file(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "missing.mmdb"
    if content is not None:
        path.write_bytes(content)
    config = NetworksConfig(country_database=str(path))

    with pytest.raises(ValueError, match=message):
        async with deployed(replace(CONFIG, networks=config)):
            pass


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"denied_countries": ("DE",)}, r"networks\.country_database: expected a file"),
        ({"denies_unknown_country": True}, r"networks\.country_database: expected a file"),
        ({"denied_asns": (64_496,)}, r"networks\.asn_database: expected a file"),
        (
            {"denied_countries": ("Germany",)},
            "expected ISO 3166 codes of two capital letters, found 'Germany'",
        ),
        ({"allowed_countries": ("de",)}, "expected ISO 3166 codes"),
        ({"allowed_countries": ("DE",), "denied_countries": ("FR",)}, "found both"),
        ({"denied_asns": (0,)}, r"networks\.denied_asns: expected 1 to 4294967295, found 0"),
        ({"reread_secs": 0}, r"networks\.reread_secs: expected 1 to 86400"),
    ],
)
def test_rules_that_cannot_hold_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NetworksConfig(**settings)  # type: ignore[arg-type]  # each row has its types
