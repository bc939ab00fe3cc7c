"""Users sign in with their username where the operator permits it."""

import pytest
from lxml import html

from identity.clients.dynamic.config import DynamicClientsConfig
from identity.directory.config import UsersConfig
from tests.edge.oidc.clients.conftest import registering
from tests.edge.oidc.clients.registrant import Registrant
from tests.edge.oidc.people.somebody import Somebody
from tests.identity.deployment import ISSUER

AUTHORIZE = (
    "/auth/v1/oidc/authorize?client_id=gnomon-pages&redirect_uri=https://id.example.com/auth/v1/device&response_type=code"
    "&scope=openid&nonce=n&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"
)


async def field(registrant: Registrant) -> tuple[str, str]:
    """Return label and type of the field for the name of the user."""
    shown = html.fromstring(await (await registrant.http.get(AUTHORIZE)).text())
    (label,) = shown.xpath("//label[@for='email']/text()")
    return label, shown.xpath("//input[@id='email']/@type")[0]


async def named(registrant: Registrant) -> None:
    """Give Alice a username."""
    alice = Somebody(registrant.http, ISSUER, "alice@example.com")
    await alice.sign_in()
    session = await (await registrant.http.get("/auth/v1/oidc/sessioninfo")).json()
    alice.user_id = session["user_id"]
    given = await alice.own("PUT", "/self/preferred_username", preferred_username="liddell")
    assert given.status == 200, await given.text()
    registrant.http.session.cookie_jar.clear()


@pytest.mark.parametrize(
    ("is_permitted", "shown", "status"),
    [
        pytest.param(True, ("Email address or user name", "text"), 202, id="permitted"),
        pytest.param(False, ("Email address", "email"), 401, id="not permitted"),
    ],
)
async def test_a_username_instead_of_the_address(
    shown: tuple[str, str], status: int, *, is_permitted: bool
) -> None:
    users = UsersConfig(username_sign_in=is_permitted)
    async with registering(DynamicClientsConfig(), users=users) as registrant:
        await named(registrant)
        found = await field(registrant)
        registrant.http.session.cookie_jar.clear()

        answer = await Somebody(registrant.http, ISSUER, "Liddell").sign_in()

    assert (found, answer.status) == (shown, status)
