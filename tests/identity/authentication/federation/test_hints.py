"""Sign-in hints to an upstream provider; the numbers are those of the reference."""

from typing import Any

import pytest

from identity.directory.provider import ProviderType
from tests.identity.authentication.federation.flow import Flow
from tests.identity.authentication.federation.upstream import upstream

ADDRESS = "ada+x@example.com"
HINTS = ("login_hint", "domain_hint", "hd")


@pytest.fixture
async def flow() -> Flow:
    flow = Flow()
    await flow.furnish()
    return flow


async def told(flow: Flow, *, address: str = "", parameters: Any = None, **fields: Any) -> dict[str, str]:
    await flow.add(upstream("p2", **fields))
    asked, _ = await flow.leave("p2", address=address, **(parameters or {}))
    return {name: asked[name] for name in HINTS if name in asked}


async def test_h11_the_address_of_the_request_goes_on(flow: Flow) -> None:
    assert await told(flow, parameters={"login_hint": ADDRESS}) == {"login_hint": ADDRESS}


@pytest.mark.parametrize("owner", ["p2", "p1", ""])
async def test_h12_a_directory_is_told_a_domain_that_is_verified_for_it(flow: Flow, owner: str) -> None:
    flow.domains.verified = {"example.com": owner}

    hints = await told(flow, address=ADDRESS, type=ProviderType.DIRECTORY)

    assert hints == {"login_hint": ADDRESS} | ({"domain_hint": "example.com"} if owner == "p2" else {})


@pytest.mark.parametrize("domain", ["corp.example", ""])
async def test_h13_a_workspace_is_told_its_own_domain(flow: Flow, domain: str) -> None:
    hints = await told(flow, address=ADDRESS, type=ProviderType.WORKSPACE, workspace_domain=domain)

    assert hints == {"login_hint": ADDRESS} | ({"hd": domain} if domain else {})


@pytest.mark.parametrize("kind", [ProviderType.DIRECTORY, ProviderType.WORKSPACE, ProviderType.OIDC])
async def test_h14_who_is_to_be_told_nothing_is_not(flow: Flow, kind: ProviderType) -> None:
    flow.domains.verified = {"example.com": "p2"}

    assert (
        await told(
            flow,
            address=ADDRESS,
            type=kind,
            workspace_domain="corp.example",
            forwards_sign_in_hints=False,
        )
        == {}
    )


async def test_h16_the_address_that_was_typed_goes_before_that_of_the_request(flow: Flow) -> None:
    hints = await told(flow, address=ADDRESS, parameters={"login_hint": "other@example.com"})

    assert hints == {"login_hint": ADDRESS}


async def test_h17_what_a_client_says_of_domains_does_not_go_on(flow: Flow) -> None:
    parameters = {"domain_hint": "evil.example", "hd": "evil.example"}

    assert await told(flow, parameters=parameters, type=ProviderType.DIRECTORY) == {}


@pytest.mark.parametrize("address", ["no address", "a@b@c", "<x>@example.com", "x\n@example.com"])
async def test_h18_what_is_no_address_goes_nowhere(flow: Flow, address: str) -> None:
    assert await told(flow, address=address) == {}
