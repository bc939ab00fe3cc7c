from datetime import timedelta

import pytest
from lxml import html

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.identity.deployment import NOON, Deployment

LATER = int(NOON.timestamp()) + 3600
OWN_ADDRESS = "127.0.0.1"
ANYWHERE = (
    "/auth/v1/oidc/certs",
    "/auth/v1/.well-known/openid-configuration",
    "/auth/v1/",
    "/auth/v1/clients",
)


async def heeded(deployment: Deployment) -> None:
    """Advance the clock beyond the second for which the edge caches block list results."""
    deployment.clock.advance(timedelta(seconds=1))


async def test_blocked_addresses_are_listed(administrator: Administrator) -> None:
    answer = await administrator.send("POST", "blacklist", {"ip": "192.0.2.7", "exp": LATER})
    await administrator.send("POST", "blacklist", {"ip": "2001:db8::1", "exp": LATER + 1})

    listed = await (await administrator.send("GET", "blacklist")).json()

    assert answer.status == 200
    assert listed == {
        "ips": [
            {"ip": "192.0.2.7", "exp": LATER, "reach": "everything"},
            {"ip": "2001:db8::/64", "exp": LATER + 1, "reach": "everything"},
        ]
    }


@pytest.mark.parametrize("path", ANYWHERE)
async def test_a_blocked_address_is_turned_away_everywhere(
    administrator: Administrator, deployment: Deployment, http: Http, path: str
) -> None:
    await administrator.send("POST", "blacklist", {"ip": OWN_ADDRESS, "exp": LATER})
    await heeded(deployment)

    answer = await http.get(path, allow_redirects=False)

    assert (answer.status, (await answer.json())["error"]) == (429, "TooManyRequests")
    assert answer.headers["Retry-After"] == "3599"
    assert answer.headers["x-retry-not-before"] == str(LATER)


async def test_a_browser_of_a_blocked_address_is_shown_a_page_with_its_style(
    administrator: Administrator, deployment: Deployment, http: Http
) -> None:
    await administrator.send("POST", "blacklist", {"ip": OWN_ADDRESS, "exp": LATER})
    await heeded(deployment)

    answer = await http.get("/auth/v1/", headers={"Accept": "text/html"})

    page = html.document_fromstring(await answer.text())
    (stylesheet,) = page.xpath("//link[@rel='stylesheet']/@href")
    assert (answer.status, answer.headers["Retry-After"]) == (429, "3599")
    assert page.xpath("string(//*[@role='alert'])") == "An administrator has blocked this network address."
    assert "You can try again in 60 minutes." in page.text_content()
    assert (await http.get(stylesheet)).status == 200


async def test_another_tenant_answers(
    administrator: Administrator, deployment: Deployment, http: Http
) -> None:
    await administrator.send("POST", "blacklist", {"ip": OWN_ADDRESS, "exp": LATER})
    await heeded(deployment)

    assert (await http.get("/auth/v1/acme/oidc/certs")).status == 200


async def test_a_block_ends_by_itself(
    administrator: Administrator, deployment: Deployment, http: Http
) -> None:
    await administrator.send("POST", "blacklist", {"ip": OWN_ADDRESS, "exp": LATER})

    deployment.clock.advance(timedelta(seconds=3600))

    assert (await http.get("/auth/v1/oidc/certs")).status == 200


@pytest.mark.parametrize("path", ["blacklist/2001:db8::77", "blacklist/2001:db8::%2F64"])
async def test_a_block_is_lifted(administrator: Administrator, path: str) -> None:
    await administrator.send("POST", "blacklist", {"ip": "2001:db8::1", "exp": LATER})

    lifted = await administrator.send("DELETE", path)

    assert lifted.status == 200
    assert await (await administrator.send("GET", "blacklist")).json() == {"ips": []}
    assert (await administrator.send("DELETE", path)).status == 404
    assert {"IpBlacklistRemoved", "IpBlacklisted"} <= set(await administrator.typs())


@pytest.mark.parametrize(
    "body",
    [
        {"ip": "example.com", "exp": LATER},
        {"ip": "192.0.2.0/24", "exp": LATER},
        {"ip": "192.0.2.7", "exp": int(NOON.timestamp())},
        {"ip": "192.0.2.7", "exp": LATER * 3},
        {"ip": "192.0.2.7", "exp": -1},
        {"ip": "192.0.2.7"},
    ],
    ids=str,
)
async def test_what_cannot_be_blocked_is_refused(
    administrator: Administrator, body: dict[str, object]
) -> None:
    answer = await administrator.send("POST", "blacklist", body)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
