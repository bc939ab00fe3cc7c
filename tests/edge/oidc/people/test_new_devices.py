"""Sign-ins with new browsers, over HTTP and with mail."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gnomon.identity.v1 import caller_pb2, tenant_service_pb2
from gnomon.identity.v1.tenant_service_pb2_grpc import TenantServiceStub
from tests.edge.oidc.people.mailed import Mailed, mailed
from tests.edge.oidc.people.provider import BASE
from tests.edge.oidc.people.somebody import Somebody

COOKIE = "GnomonDevice"
NEW = "New sign-in to your account"
SETTINGS = "/tenants/default/settings"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[Mailed]:
    async with mailed(tmp_path / "letters") as found:
        yield found


def device(somebody: Somebody) -> str:
    return next((cookie.value for cookie in somebody.http.session.cookie_jar if cookie.key == COOKIE), "")


async def test_a_second_browser_is_told_of_and_then_known(world: Mailed) -> None:
    first = await world.signed_in()
    before = world.letters.all()

    second = await world.signed_in()

    text = await world.letters.text(NEW)
    assert before == []
    assert f"{second.issuer}account" in text
    assert device(first) != device(second)
    for person in (first, second):
        person.http.session.cookie_jar.clear(lambda cookie: cookie.key == "GnomonSession")
        assert (await person.sign_in()).status == 202
    assert (await world.admin.typs()).count("LoginNewDevice") == 1


async def test_the_cookie_is_set_for_scripts_of_nobody_and_for_long(world: Mailed) -> None:
    answer = await world.alice().sign_in()

    (cookie,) = [text for text in answer.headers.getall("Set-Cookie") if text.startswith(COOKIE)]
    assert {"HttpOnly", "SameSite=Lax", f"Max-Age={400 * 86_400}"} <= set(cookie.split("; "))
    assert len(cookie.partition(";")[0]) < 128


async def test_a_wrong_password_gets_no_cookie_and_is_told_of_nowhere(world: Mailed) -> None:
    await world.signed_in()

    refused = [
        await world.alice().sign_in("a wrong one, and a long one"),
        await world.alice(email="nobody@example.com").sign_in(),
    ]

    assert [answer.status for answer in refused] == [401, 401]
    assert not [
        text for answer in refused for text in answer.headers.getall("Set-Cookie", ()) if COOKIE in text
    ]
    assert world.letters.all() == []
    assert "LoginNewDevice" not in await world.admin.typs()


async def test_a_tenant_turns_the_letters_off(world: Mailed) -> None:
    changed = await world.admin.send(
        "PUT", SETTINGS, json={"sign_in": {"sign_in_notice": "off"}, "registration": {}, "clients": {}}
    )
    await world.signed_in()

    await world.signed_in()

    assert (await changed.json())["sign_in"]["sign_in_notice"] == "off"
    assert "LoginNewDevice" in await world.admin.typs()
    await world.ask()
    await world.letters.text("Choose a new password")
    assert len(world.letters.all()) == 1


async def test_an_edge_that_does_not_know_the_setting_keeps_it(world: Mailed) -> None:
    await world.admin.send(
        "PUT", SETTINGS, json={"sign_in": {"sign_in_notice": "off"}, "registration": {}, "clients": {}}
    )
    deployment = world.admin.deployment
    older = tenant_service_pb2.UpdateTenantSettingsRequest(
        caller=caller_pb2.Caller(access_token=(await deployment.issue()).access_token),
        id="default",
        settings=tenant_service_pb2.TenantSettings(email_first="off", confirmation_link_hours=24),
    )

    await TenantServiceStub(deployment.channel).UpdateTenantSettings(older)

    _, kept = await world.admin.ask("GET", SETTINGS)
    assert kept["sign_in"] == {
        "email_first": "off",
        "email_codes": "off",
        "sign_in_notice": "off",
        "support_role": "",
        "support_minutes": 30,
    }


async def test_a_setting_that_does_not_exist_is_refused(world: Mailed) -> None:
    answer = await world.admin.http.put(
        f"{BASE}{SETTINGS}",
        json={"sign_in": {"sign_in_notice": "always"}, "registration": {}, "clients": {}},
        headers=world.admin.headers,
    )

    assert answer.status == 400
    assert "sign_in_notice" in await answer.text()
