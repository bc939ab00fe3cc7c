"""Images of tenants are separate, and below the tenant's own issuer."""

import pytest
from aiohttp import ClientResponse

from identity.directory.images.config import PicturesConfig
from identity.directory.images.image import IMAGES
from server.platform.call import TenantId
from tests.edge.oidc.tenants.world import World, world
from tests.identity.administration.images.pictures import form

ACME = TenantId("acme")
WITH_PROFILE = ("openid", "email", "profile")


async def populate(provider: World) -> None:
    """Create the same app and the same e-mail address in both tenants."""
    for tenant in ("default", "acme"):
        await provider.add_user(tenant, f"{tenant}-alice")
        await provider.add_app(tenant, oauth_scopes=WITH_PROFILE)


async def put(provider: World, path: str, tenant: str = "") -> ClientResponse:
    """Upload an image as the deployment's administrator."""
    token = (await provider.deployment.issue()).access_token
    return await provider.http.put(
        f"{provider.issuer(tenant)}{path}", data=form(), headers={"Authorization": f"Bearer {token}"}
    )


async def token_with_profile(provider: World, tenant: str) -> str:
    asked = provider.authorization(tenant).replace("openid+email", "openid+profile")
    arrival = await provider.person(tenant, lambda person: person.sign_in(asked))
    return str((await provider.redeem(arrival.parameters["code"], tenant))["access_token"])


@pytest.mark.parametrize("tenant", ["acme", ""])
async def test_the_picture_claim_is_an_address_at_the_tenants_issuer(provider: World, tenant: str) -> None:
    await populate(provider)
    user_id = f"{tenant or 'default'}-alice"
    picture_id = await (await put(provider, f"users/{user_id}/picture", tenant)).text()

    token = await token_with_profile(provider, tenant)
    claims = await (await provider.with_token("oidc/userinfo", token, tenant)).json()

    assert claims["picture"] == f"{provider.issuer(tenant)}users/{user_id}/picture/{picture_id}"
    assert (await provider.http.get(claims["picture"])).content_type == "image/webp"


async def test_without_a_picture_there_is_no_claim(provider: World) -> None:
    await populate(provider)

    token = await token_with_profile(provider, "acme")

    assert "picture" not in await (await provider.with_token("oidc/userinfo", token, "acme")).json()


async def test_a_picture_is_nowhere_but_at_its_tenant(provider: World) -> None:
    await populate(provider)
    picture_id = await (await put(provider, "users/acme-alice/picture", "acme")).text()
    path = f"users/acme-alice/picture/{picture_id}"

    seen = [await provider.status(f"{provider.issuer(tenant)}{path}") for tenant in ("acme", "", "umbrella")]
    elsewhere = await put(provider, "users/acme-alice/picture", "umbrella")

    assert (seen, elsewhere.status) == ([200, 404, 404], 404)


async def test_clients_of_the_same_id_have_each_their_logo(provider: World) -> None:
    await populate(provider)
    await put(provider, "clients/app/logo", "acme")

    seen = [
        await provider.status(f"{provider.issuer(tenant)}clients/app/logo")
        for tenant in ("acme", "", "umbrella")
    ]

    assert seen == [200, 404, 404]


async def test_a_client_of_the_default_tenant_shows_its_logo_where_it_is_known(provider: World) -> None:
    await provider.add_app("default", tenant_ids=(TenantId("default"), ACME))
    await put(provider, "clients/app/logo")

    seen = [
        await provider.status(f"{provider.issuer(tenant)}clients/app/logo")
        for tenant in ("", "acme", "umbrella")
    ]
    at_acme = await put(provider, "clients/app/logo", "acme")

    assert (seen, at_acme.status) == ([200, 200, 404], 404)


async def test_the_logo_stands_on_the_page_of_the_tenant(provider: World) -> None:
    await populate(provider)
    logo_id = await (await put(provider, "clients/app/logo", "acme")).text()

    pages = [
        await (await provider.http.get(provider.authorization(tenant))).text() for tenant in ("acme", "")
    ]

    address = f'src="/auth/v1/acme/clients/app/logo?updated={logo_id}"'
    assert [address in page for page in pages] == [True, False]
    assert ["<img" in page for page in pages] == [True, False]


async def test_an_administrator_of_one_tenant_changes_nothing_of_another(provider: World) -> None:
    await populate(provider)
    await provider.add_app("umbrella")
    await provider.add_user("umbrella", "umbrella-alice", roles=("admin",))
    token = await provider.access_token("umbrella")

    answer = await provider.http.put(
        f"{provider.issuer('acme')}clients/app/logo",
        data=form(),
        headers={"Authorization": f"Bearer {token}"},
    )

    assert answer.status in {401, 403}
    assert await provider.store.of(IMAGES).page(ACME) == []


async def test_images_go_with_their_tenant(provider: World) -> None:
    await provider.create("newcomer")
    await provider.add_app("newcomer")
    assert (await put(provider, "clients/app/logo", "newcomer")).status == 200

    assert (await provider.administer("DELETE", "tenants/newcomer")).ok

    assert await provider.store.of(IMAGES).page(TenantId("newcomer")) == []


async def test_where_pictures_are_not_public_a_client_sees_what_its_token_opens() -> None:
    async with world(pictures=PicturesConfig(public=False)) as provider:
        await populate(provider)
        await provider.add_user("acme", "acme-bob", email="bob@example.com")
        paths = {
            name: f"users/{name}/picture/{await (await put(provider, f'users/{name}/picture', 'acme')).text()}"
            for name in ("acme-alice", "acme-bob")
        }
        with_profile = await token_with_profile(provider, "acme")
        without = await provider.access_token("acme")

        seen = [
            (await provider.with_token(paths[name], token, "acme")).status
            for name, token in (
                ("acme-alice", with_profile),
                ("acme-alice", without),
                ("acme-bob", with_profile),
            )
        ]

        assert seen == [200, 403, 403]
