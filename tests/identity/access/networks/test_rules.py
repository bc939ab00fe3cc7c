from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from identity.access.login_protection.addresses import Addresses
from identity.access.login_protection.blacklist import Judgement
from identity.access.login_protection.config import LoginProtectionConfig
from identity.access.networks.config import NetworksConfig
from identity.access.networks.networks import Networks
from identity.access.networks.rules import MOST_EVENTS, NetworkRules
from identity.foundation.events.event import EVENTS, Event
from tests.identity.access.networks.databases import AWAY, HOME, NOWHERE, countries, systems
from tests.identity.browsers import Provider

REFUSED = Judgement(refuses_users=True)


async def rules(
    provider: Provider, directory: Path, *allowed: str, most_events: int = MOST_EVENTS, **settings: Any
) -> NetworkRules:
    """Return rules over files in which HOME is in Germany and AWAY in France, in AS64496."""
    config = NetworksConfig(
        country_database=countries(directory / "countries.mmdb", home="DE", away="FR"),
        asn_database=systems(directory / "systems.mmdb", 64_496),
        **settings,
    )
    networks = Networks(config)
    await networks.open()
    addresses = Addresses(LoginProtectionConfig(allowed_networks=allowed))
    return NetworkRules(
        *(config, networks, addresses),
        events=provider.events,
        clock=provider.clock,
        most_events=most_events,
    )


async def events(provider: Provider) -> list[Event]:
    return list(await provider.store.of(EVENTS).page(provider.tenant.tenant_id, most=2000))


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ({}, []),
        ({"denied_countries": ("FR",)}, [AWAY]),
        ({"allowed_countries": ("DE",)}, [AWAY]),
        ({"denied_asns": (64_496,)}, [AWAY]),
        ({"denied_asns": (64_497,)}, []),
        ({"denies_unknown_country": True}, [NOWHERE, "2001:db8::1"]),
        ({"allowed_countries": ("DE",), "denies_unknown_country": True}, [AWAY, NOWHERE, "2001:db8::1"]),
    ],
)
async def test_users_are_refused_by_country_and_system(
    tmp_path: Path, settings: dict[str, Any], refused: list[str]
) -> None:
    provider = Provider()
    judged = await rules(provider, tmp_path, **settings)

    for address in (HOME, AWAY, NOWHERE, "2001:db8::1", ""):
        expected = REFUSED if address in refused else Judgement()
        assert await judged.judge(provider.tenant, address) == expected, address


async def test_clients_are_refused_only_where_that_is_set(tmp_path: Path) -> None:
    provider = Provider()
    judged = await rules(provider, tmp_path, denied_countries=("FR",), covers_clients=True)

    assert await judged.judge(provider.tenant, AWAY) == Judgement(refuses_users=True, refuses_clients=True)


async def test_an_allowed_network_is_never_refused(tmp_path: Path) -> None:
    provider = Provider()
    judged = await rules(provider, tmp_path, "198.51.100.0/30", allowed_countries=("DE",))

    assert await judged.judge(provider.tenant, AWAY) == Judgement()
    assert await judged.judge(provider.tenant, "198.51.100.9") == REFUSED


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"denied_countries": ("FR",)}, "country FR"), ({"denied_asns": (64_496,)}, "AS64496")],
)
async def test_a_refusal_is_an_event_once_in_an_hour(
    tmp_path: Path, settings: dict[str, Any], text: str
) -> None:
    provider = Provider()
    judged = await rules(provider, tmp_path, **settings)

    for _ in range(3):
        await judged.judge(provider.tenant, AWAY)
    (event,) = await events(provider)
    provider.clock.advance(timedelta(hours=1))
    await judged.judge(provider.tenant, AWAY)

    assert (event.type, event.ip, event.text, event.user_id) == ("NetworkRefused", AWAY, text, None)
    assert len(await events(provider)) == 2


async def test_events_are_bounded_and_refusals_are_not(tmp_path: Path) -> None:
    provider = Provider()
    judged = await rules(provider, tmp_path, denied_countries=("FR",), most_events=3)

    judgements = [await judged.judge(provider.tenant, f"198.51.100.{number}") for number in range(1, 9)]

    assert judgements == [REFUSED] * 8
    assert len(await events(provider)) == 3
