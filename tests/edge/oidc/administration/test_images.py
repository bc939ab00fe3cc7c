"""Logos of clients and images of providers over HTTP, from the socket to the records."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest
from aiohttp import ClientResponse

from identity.authentication.federation.config import FederationConfig
from identity.crypto.keys.config import EncryptionConfig
from identity.crypto.keys.master_keys import new_master_key
from identity.directory.client import CLIENTS
from identity.directory.images.image import IMAGES
from identity.foundation.randomness import SystemRandomness
from server.platform.call import TenantId
from server.platform.records import every
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.administration.test_clients import NEW as NEW_CLIENT
from tests.edge.oidc.administration.test_clients import WHOLE as WHOLE_CLIENT
from tests.edge.oidc.administration.test_providers import MODEST, NEW
from tests.edge.oidc.conftest import Http
from tests.identity.administration.images.pictures import SVG, form, opened, uploaded
from tests.identity.deployment import CONFIG, Deployment, deployed

DEFAULT = TenantId("default")
KEPT = replace(
    CONFIG,
    federation=FederationConfig(enabled=True),
    encryption=EncryptionConfig(keys=(new_master_key(SystemRandomness()),)),
)


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with deployed(KEPT) as running:
        yield running


@dataclass(frozen=True)
class Place:
    """The owner of an image; `area` is the area of an API key's rights."""

    administrator: Administrator
    owner: str
    area: str
    size: tuple[int, int]

    @property
    def path(self) -> str:
        return f"{self.owner}/{'logo' if self.area == 'Clients' else 'img'}"

    async def put(self, content: bytes = b"", administrator: Administrator | None = None) -> ClientResponse:
        sent = form(content or uploaded(size=(2000, 1000)))
        return await (administrator or self.administrator).send("PUT", self.path, data=sent)

    async def get(self, query: str = "", **headers: str) -> ClientResponse:
        """Get the image without authentication."""
        return await self.administrator.http.get(f"/auth/v1/{self.path}{query}", headers=headers)


@pytest.fixture(params=["client", "provider"])
async def place(request: pytest.FixtureRequest, administrator: Administrator) -> Place:
    if request.param == "client":
        await administrator.send("POST", "clients", NEW_CLIENT)
        return Place(administrator, "clients/app", "Clients", (336, 168))
    created = await (await administrator.send("POST", "providers/create", MODEST)).json()
    return Place(administrator, f"providers/{created['id']}", "AuthProviders", (60, 30))


async def kept(deployment: Deployment) -> int:
    return len([image async for image in every(deployment.store.of(IMAGES), DEFAULT)])


async def events_of(administrator: Administrator) -> set[tuple[str, str]]:
    listed = await (await administrator.send("POST", "events", {"from": 0})).json()
    return {(event["typ"], event.get("text", "")) for event in listed}


async def test_everybody_sees_what_an_administrator_uploaded(place: Place) -> None:
    put = await place.put()

    answer = await place.get()
    image = opened(await answer.read())
    assert (put.status, put.headers["Clear-Site-Data"]) == (200, '"cache"')
    assert (answer.status, answer.content_type, image.format, image.size) == (
        200,
        "image/webp",
        "WEBP",
        place.size,
    )
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_an_address_that_names_the_image_is_kept_for_long(place: Place) -> None:
    image_id = await (await place.put()).text()

    plain, named, other = [
        await place.get(query) for query in ("", f"?updated={image_id}", "?updated=1700000000")
    ]
    again = await place.get(**{"If-None-Match": plain.headers["ETag"]})

    assert plain.headers["Cache-Control"] == other.headers["Cache-Control"] == "public, no-cache"
    assert named.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (again.status, await again.read()) == (304, b"")


async def test_another_image_takes_the_place_of_the_one_before(place: Place, deployment: Deployment) -> None:
    first = await place.put()

    second = await place.put(uploaded(size=(20, 20)))

    assert await first.text() != await second.text()
    assert opened(await (await place.get()).read()).size == (20, 20)
    assert await kept(deployment) == 1


async def test_what_is_no_image_changes_nothing(place: Place) -> None:
    await place.put()

    refused = await place.put(SVG)

    assert (refused.status, (await refused.json())["error"]) == (400, "BadRequest")
    assert (await place.get()).status == 200


async def test_an_image_is_taken_away(place: Place, deployment: Deployment) -> None:
    await place.put()

    answers = [await place.administrator.send("DELETE", place.path) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 404]
    assert (await place.get()).status == 404
    assert await kept(deployment) == 0


async def test_what_is_done_with_an_image_is_an_event(place: Place, administrator: Administrator) -> None:
    await place.put()
    await administrator.send("DELETE", place.path)

    what = "logo of client app" if place.area == "Clients" else f"image of provider {NEW['name']}"
    assert {("Changed", what), ("Deleted", what)} <= await events_of(administrator)


async def test_an_image_goes_with_what_it_shows(place: Place, deployment: Deployment) -> None:
    await place.put()

    assert (await place.administrator.send("DELETE", place.owner)).status == 200

    assert (await place.get()).status == 404
    assert await kept(deployment) == 0


async def test_a_program_needs_the_right(place: Place, administrator: Administrator) -> None:
    reader = await administrator.key("reader", **{place.area: ["read", "create", "delete"]})
    writer = await administrator.key("writer", **{place.area: ["update"]})
    remover = await administrator.key("remover", **{place.area: ["delete"]})

    put = [(await place.put(administrator=who)).status for who in (reader, remover, writer)]
    taken = [(await who.send("DELETE", place.path)).status for who in (writer, remover)]

    assert (put, taken) == ([403, 403, 200], [403, 200])


async def test_strangers_put_nothing(place: Place, http: Http) -> None:
    answers = [await http.request(method, f"/auth/v1/{place.path}") for method in ("PUT", "DELETE")]

    assert [answer.status for answer in answers] == [401, 401]


@pytest.mark.parametrize("path", ["clients/unknown/logo", "providers/unknown/img"])
async def test_who_is_not_there_has_no_image(path: str, administrator: Administrator) -> None:
    answers = [
        await administrator.send("PUT", path, data=form()),
        await administrator.send("GET", path),
        await administrator.send("DELETE", path),
    ]

    assert [answer.status for answer in answers] == [404, 404, 404]


async def test_the_providers_own_clients_have_no_logo(administrator: Administrator) -> None:
    place = Place(administrator, "clients/gnomon-pages", "Clients", (1, 1))

    assert (await place.put()).status == 409


async def test_an_api_key_gives_no_image_to_a_provider_of_administrators(
    administrator: Administrator,
) -> None:
    created = await (await administrator.send("POST", "providers/create", NEW)).json()
    place = Place(administrator, f"providers/{created['id']}", "AuthProviders", (60, 30))
    key = await administrator.key("writer", AuthProviders=["update"])

    assert (await place.put(administrator=key)).status == 403
    assert (await place.put()).status == 200


async def test_a_changed_client_keeps_its_logo(administrator: Administrator) -> None:
    await administrator.send("POST", "clients", NEW_CLIENT)
    place = Place(administrator, "clients/app", "Clients", (336, 168))
    await place.put()

    changed = await administrator.send("PUT", "clients/app", WHOLE_CLIENT)

    assert changed.status == 200
    assert (await place.get()).status == 200


async def test_a_client_of_the_configuration_keeps_its_logo_at_the_next_start(
    deployment: Deployment, administrator: Administrator
) -> None:
    place = Place(administrator, "clients/worker", "Clients", (336, 168))
    image_id = await (await place.put()).text()

    async with deployed(KEPT, deployment.store):
        client = await deployment.store.of(CLIENTS).get(DEFAULT, "worker")

    assert client is not None
    assert client.logo_id == image_id


async def test_the_list_of_providers_says_which_image_one_has(
    administrator: Administrator, http: Http
) -> None:
    created = await (await administrator.send("POST", "providers/create", MODEST)).json()
    place = Place(administrator, f"providers/{created['id']}", "AuthProviders", (60, 30))
    listed = [await (await http.get("/auth/v1/providers/minimal")).json()]
    image_id = await (await place.put()).text()
    listed.append(await (await http.get("/auth/v1/providers/minimal")).json())

    offered = {"id": created["id"], "name": MODEST["name"]}
    assert listed == [[offered], [offered | {"updated": image_id}]]
