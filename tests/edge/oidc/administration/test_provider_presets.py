"""Providers from presets over HTTP."""

from typing import Any

import pytest
from joserfc.jwk import ECKey

from identity.administration.provider_presets import PRESETS
from identity.directory.provider import PROVIDERS
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.identity.deployment import Deployment

KEY = ECKey.generate_key("P-256").as_pem(private=True).decode()
DIRECTORY = "9188040d-6c67-4c5b-b112-36a304b66dad"
MEMBERS = {"client_id": "here", "client_secret": "s3cret-of-ours"}
VALUES: dict[str, dict[str, object]] = {
    "apple": {"team_id": "TEAM", "key_id": "KEY", "client_secret": KEY},
    "microsoft": {"directory": DIRECTORY},
}


async def create(administrator: Administrator, preset: str, **values: object) -> tuple[int, Any]:
    body = MEMBERS | {"preset": preset} | values
    answer = await administrator.send("POST", "providers/presets", body)
    return answer.status, await answer.json()


@pytest.mark.parametrize("preset", PRESETS)
async def test_a_preset_needs_our_id_and_secret_and_what_it_names(
    administrator: Administrator, deployment: Deployment, preset: str
) -> None:
    status, created = await create(administrator, preset, **VALUES.get(preset, {}))

    assert status == 200, created
    assert (created["name"], created["client_id"], created["enabled"]) == (PRESETS[preset].name, "here", True)
    assert not any("{" in str(value) for name, value in created.items() if name.endswith(("r", "endpoint")))
    (kept,) = await deployment.store.of(PROVIDERS).page(TenantId("default"))
    assert kept.signs_people_in
    assert kept.client_secret is not None


async def test_the_presets_are_listed_with_where_to_register(administrator: Administrator) -> None:
    answer = await administrator.send("GET", "providers/presets")

    listed = {preset["id"]: preset for preset in await answer.json()}
    assert list(listed) == sorted(PRESETS)
    assert listed["apple"] == {
        "id": "apple",
        "name": "Apple",
        "registration_url": "https://developer.apple.com/account/resources/identifiers/list/serviceId",
        "needs": ["team_id", "key_id"],
        "scope": "openid email",
    }


async def test_values_have_their_place_in_the_addresses(administrator: Administrator) -> None:
    _, microsoft = await create(administrator, "microsoft", directory=DIRECTORY)
    _, gitlab = await create(administrator, "gitlab", host="git.example.com:8443", name="Our GitLab")

    assert microsoft["issuer"] == f"https://login.microsoftonline.com/{DIRECTORY}/v2.0"
    assert gitlab["issuer"] == "https://git.example.com:8443"
    assert (gitlab["token_endpoint"], gitlab["name"]) == (
        "https://git.example.com:8443/oauth/token",
        "Our GitLab",
    )


@pytest.mark.parametrize(
    ("preset", "values", "status", "wrong"),
    [
        ("myspace", {}, 404, "no such preset"),
        ("microsoft", {}, 400, "directory: expected one"),
        ("microsoft", {"directory": "common"}, 400, "id of a directory"),
        ("google", {"directory": DIRECTORY}, 400, "directory: expected none"),
        ("google", {"host": "example.com"}, 400, "host: expected none"),
        ("gitlab", {"host": "example.com/x"}, 400, "expected a host"),
        ("gitlab", {"host": "example.com@evil"}, 400, "expected a host"),
        ("apple", {"client_secret": KEY, "team_id": "TEAM"}, 400, "key_id: expected one"),
        ("apple", {"team_id": "TEAM", "key_id": "KEY"}, 400, "EC P-256 private key"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused(
    administrator: Administrator, preset: str, values: dict[str, object], status: int, wrong: str
) -> None:
    answered, body = await create(administrator, preset, **values)

    assert answered == status
    assert wrong in body["message"]


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(ECKey.generate_key("P-384").as_pem(private=True).decode(), id="another curve"),
        pytest.param(ECKey.generate_key("P-256").as_pem(private=False).decode(), id="a public key"),
        pytest.param(KEY.replace("MIG", "XXX"), id="broken"),
    ],
)
async def test_another_key_than_apples_is_refused(administrator: Administrator, key: str) -> None:
    status, body = await create(administrator, "apple", client_secret=key, team_id="TEAM", key_id="KEY")

    assert (status, "EC P-256 private key" in body["message"]) == (400, True)


async def test_a_private_key_is_never_sent_as_a_secret(administrator: Administrator) -> None:
    _, created = await create(administrator, "apple", **VALUES["apple"])
    provider_id = created.pop("id")
    del created["signed_secret"]

    answer = await administrator.send("PUT", f"providers/{provider_id}", created)

    assert answer.status == 400
    assert "client_secret: expected one" in (await answer.json())["message"]


async def test_settings_of_a_preset_stay_when_they_are_sent_again(administrator: Administrator) -> None:
    _, created = await create(administrator, "github")
    provider_id = created.pop("id")

    answer = await administrator.send("PUT", f"providers/{provider_id}", created)

    assert answer.status == 200
    assert await answer.json() == created | {"id": provider_id}


async def test_a_key_needs_the_right_to_create_providers(administrator: Administrator) -> None:
    reader = await administrator.key("reader", AuthProviders=["read"])
    stranger = await administrator.key("stranger", Clients=["read", "create"])

    assert (await reader.send("GET", "providers/presets")).status == 200
    assert (await create(reader, "google"))[0] == 403
    assert (await stranger.send("GET", "providers/presets")).status == 403
