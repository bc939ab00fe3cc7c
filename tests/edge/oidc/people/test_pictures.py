"""Pictures of users over HTTP, from the socket to the records."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import ClientResponse, FormData, web
from aiohttp.test_utils import TestClient, TestServer

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.directory.config import UsersConfig
from identity.directory.images.config import PicturesConfig
from identity.directory.images.image import IMAGES
from server.platform.call import TenantId
from server.platform.records import every
from tests.edge.oidc.people.provider import Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.administration.images.pictures import SVG, form, opened, uploaded
from tests.identity.deployment import CONFIG, deployed

ALICE = {"email": "alice@example.com", "language": "en", "roles": [], "password": PASSWORD}
BOB = {"email": "bob@example.com", "language": "en", "roles": [], "password": PASSWORD}
DEFAULT = TenantId("default")


class World:
    """Alice and Bob with a browser each, and an administrator."""

    def __init__(self, server: TestServer, admin: Administrator) -> None:
        self.admin = admin
        self._server = server
        self._browsers: list[TestClient[web.Request, web.Application]] = []

    async def somebody(self, account: dict[str, Any]) -> Somebody:
        """Return a signed-in user with an account."""
        _, created = await self.admin.ask("POST", "/users", json=account)
        http = TestClient(self._server)
        self._browsers.append(http)
        issuer = self.admin.deployment.identity.issuer
        person = Somebody(http, issuer, account["email"], created["id"])
        assert (await person.sign_in()).status == 202
        return person

    async def kept(self) -> int:
        records = self.admin.deployment.store.of(IMAGES)
        return len([image async for image in every(records, DEFAULT)])

    async def events(self) -> list[tuple[str, str]]:
        _, events = await self.admin.ask("POST", "/events", json={"from": 0})
        return [(event["typ"], event.get("text")) for event in events]

    async def close(self) -> None:
        for browser in self._browsers:
            await browser.close()


@asynccontextmanager
async def running(pictures: PicturesConfig, oidc: OidcConfig | None = None) -> AsyncIterator[World]:
    config = replace(
        CONFIG,
        users=UsersConfig(self_delete=True),
        pictures=pictures,
    )
    async with deployed(config) as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app.add_routes(
            routes(
                deployment.channel,
                oidc or OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
            )
        )
        token = (await deployment.issue()).access_token
        server = TestServer(app)
        async with TestClient(server) as http:
            world = World(server, Administrator(deployment, http, {"Authorization": f"Bearer {token}"}))
            yield world
            await world.close()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running(PicturesConfig(max_kib=64)) as found:
        yield found


async def put(person: Somebody, sent: FormData | None = None, **headers: str) -> ClientResponse:
    return await person.http.put(
        f"/auth/v1/users/{person.user_id}/picture",
        data=sent or form(),
        headers={"x-csrf-token": person.csrf_token} | headers,
    )


async def has_put(person: Somebody) -> str:
    """Upload a picture and return its path."""
    answer = await put(person)
    assert answer.status == 200, await answer.text()
    return f"/users/{person.user_id}/picture/{await answer.text()}"


async def seen(world: World, path: str, **headers: str) -> ClientResponse:
    """Get the picture without authentication."""
    return await world.admin.http.get(f"/auth/v1{path}", headers=headers)


async def test_a_person_has_a_picture_that_everybody_sees_who_knows_its_address(world: World) -> None:
    alice = await world.somebody(ALICE)

    path = await has_put(alice)

    answer = await seen(world, path)
    image = opened(await answer.read())
    assert (answer.status, answer.content_type) == (200, "image/webp")
    assert (image.format, image.size) == ("WEBP", (192, 192))
    _, user = await world.admin.ask("GET", f"/users/{alice.user_id}")
    assert path.endswith(f"/{user['picture_id']}")
    assert ("Changed", "picture of user alice@example.com") in await world.events()


async def test_a_picture_is_handed_out_as_nothing_but_a_picture(world: World) -> None:
    answer = await seen(world, await has_put(await world.somebody(ALICE)))

    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox; frame-ancestors 'none'"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "cross-origin"


async def test_a_picture_never_changes_at_its_address(world: World) -> None:
    alice = await world.somebody(ALICE)

    first = await has_put(alice)
    answer = await seen(world, first)
    again = await seen(world, first, **{"If-None-Match": answer.headers["ETag"]})
    second = await has_put(alice)

    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert (again.status, await again.read()) == (304, b"")
    assert again.headers["Cache-Control"] == answer.headers["Cache-Control"]
    assert first != second
    assert (await seen(world, first)).status == 404
    assert (await seen(world, second)).status == 200
    assert await world.kept() == 1


@pytest.mark.parametrize(
    ("site", "destination", "status"),
    [("cross-site", "image", 200), ("cross-site", "script", 400), ("cross-site", "iframe", 400)],
)
async def test_pages_of_others_show_it_and_do_nothing_else_with_it(
    world: World, site: str, destination: str, status: int
) -> None:
    path = await has_put(await world.somebody(ALICE))

    fetched = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": destination}

    assert (await seen(world, path, **fetched)).status == status


@pytest.mark.parametrize(
    ("content", "called"),
    [
        pytest.param(SVG, "image/svg+xml", id="drawing"),
        pytest.param(SVG, "image/png", id="drawing that is called an image"),
        pytest.param(uploaded("GIF"), "image/png", id="other format"),
        pytest.param(uploaded(), "text/html", id="image that is called a page"),
        pytest.param(b"<html>", "image/jpeg", id="page"),
    ],
)
async def test_what_is_no_image_is_refused(world: World, content: bytes, called: str) -> None:
    alice = await world.somebody(ALICE)

    answer = await put(alice, form(content, called))

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await world.kept() == 0


async def test_what_it_is_counts_and_not_what_it_is_called(world: World) -> None:
    assert (await put(await world.somebody(ALICE), form(uploaded("WEBP"), "image/jpeg"))).status == 200


async def test_what_is_too_large_is_refused(world: World) -> None:
    alice = await world.somebody(ALICE)

    answers = [await put(alice, form(uploaded() + bytes(size))) for size in (60_000, 66_000, 200_000)]

    assert [answer.status for answer in answers] == [200, 413, 413]


async def test_a_body_without_a_length_is_bounded_too(world: World) -> None:
    alice = await world.somebody(ALICE)

    async def endless() -> AsyncIterator[bytes]:
        yield b"--b\r\nContent-Type: image/png\r\n\r\n"
        for _ in range(100):
            yield bytes(4096)

    answer = await alice.http.put(
        f"/auth/v1/users/{alice.user_id}/picture",
        data=endless(),
        headers={"x-csrf-token": alice.csrf_token, "Content-Type": "multipart/form-data; boundary=b"},
    )

    assert answer.status == 413


async def test_whoever_sends_too_slowly_is_not_waited_for() -> None:
    answered = asyncio.Event()

    async def stalled() -> AsyncIterator[bytes]:
        yield b"--b\r\n"
        await answered.wait()

    async with running(PicturesConfig(), OidcConfig(long_call_timeout_seconds=0.5)) as world:
        answer = await world.admin.http.put(
            f"/auth/v1/users/{(await world.somebody(ALICE)).user_id}/picture",
            data=stalled(),
            headers=world.admin.headers | {"Content-Type": "multipart/form-data; boundary=b"},
        )
        answered.set()

        assert answer.status == 408


PART = b'--b\r\nContent-Disposition: form-data; name="x"\r\nContent-Type: image/png\r\n\r\n' + uploaded()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        pytest.param("multipart/form-data; boundary=b", b"", id="nothing"),
        pytest.param("multipart/form-data; boundary=b", PART, id="no end"),
        pytest.param("multipart/form-data; boundary=b", b"\r\n".join((PART, PART, b"--b--")), id="two parts"),
        pytest.param("multipart/form-data; boundary=b", b"x\r\n" + PART + b"\r\n--b--", id="preamble"),
        pytest.param("multipart/form-data; boundary=b", PART + b"\r\n--b--\r\nmore", id="epilogue"),
        pytest.param(
            "multipart/form-data; boundary=b", b"--b\r\n\r\n" + uploaded() + b"\r\n--b--", id="no name"
        ),
        pytest.param("multipart/form-data", PART + b"\r\n--b--", id="no boundary"),
        pytest.param(f"multipart/form-data; boundary={'b' * 71}", b"", id="long boundary"),
        pytest.param("multipart/mixed; boundary=b", PART + b"\r\n--b--", id="another multipart"),
        pytest.param("image/png", uploaded(), id="no form"),
    ],
)
async def test_a_form_has_exactly_one_part(world: World, content_type: str, body: bytes) -> None:
    alice = await world.somebody(ALICE)

    answer = await alice.http.put(
        f"/auth/v1/users/{alice.user_id}/picture",
        data=body,
        headers={"x-csrf-token": alice.csrf_token, "Content-Type": content_type},
    )

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")


async def test_nobody_changes_somebody_elses_picture(world: World) -> None:
    alice, bob = await world.somebody(ALICE), await world.somebody(BOB)
    path = await has_put(alice)

    taken = await bob.send("DELETE", path)
    bob.user_id = alice.user_id
    changed = await put(bob)

    assert (taken.status, changed.status) == (403, 403)
    assert (await seen(world, path)).status == 200


async def test_no_other_page_changes_a_picture(world: World) -> None:
    alice = await world.somebody(ALICE)
    path = await has_put(alice)

    from_elsewhere = await put(alice, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    alice.csrf_token = "guessed"
    without_token = await put(alice)
    taken = await alice.send("DELETE", path)

    assert (from_elsewhere.status, without_token.status, taken.status) == (400, 401, 401)
    assert (await seen(world, path)).status == 200


async def test_strangers_are_turned_away_before_anything_of_the_body_is_read(world: World) -> None:
    # There is no form, which would be a mistake.
    answer = await world.admin.http.put("/auth/v1/users/any/picture", data=b"no form")

    assert answer.status == 401


async def test_a_person_takes_its_picture_away(world: World) -> None:
    alice = await world.somebody(ALICE)
    path = await has_put(alice)

    other = await alice.send("DELETE", f"{path}x")
    gone = await alice.send("DELETE", path)
    again = await alice.send("DELETE", path)

    assert (other.status, gone.status, again.status) == (404, 200, 404)
    assert (await seen(world, path)).status == 404
    assert "picture_id" not in (await world.admin.ask("GET", f"/users/{alice.user_id}"))[1]
    assert await world.kept() == 0
    assert ("Deleted", "picture of user alice@example.com") in await world.events()


@pytest.mark.parametrize("deleted_by", ["owner", "administrator"])
async def test_a_picture_goes_with_its_account(world: World, deleted_by: str) -> None:
    alice = await world.somebody(ALICE)
    path = await has_put(alice)

    if deleted_by == "owner":
        answer = await alice.own("DELETE", "/self/delete", mfa_mod_token_id=await alice.proof())
    else:
        answer = await world.admin.send("DELETE", f"/users/{alice.user_id}")

    assert answer.ok
    assert (await seen(world, path)).status == 404
    assert await world.kept() == 0


async def test_an_administrator_gives_somebody_a_picture(world: World) -> None:
    alice = await world.somebody(ALICE)

    answer = await world.admin.send("PUT", f"/users/{alice.user_id}/picture", data=form())
    unknown = await world.admin.send("PUT", "/users/nobody/picture", data=form())

    assert (answer.status, unknown.status) == (200, 404)
    assert (await seen(world, f"/users/{alice.user_id}/picture/{await answer.text()}")).status == 200


async def test_an_api_key_needs_the_right_and_changes_no_administrator(world: World) -> None:
    alice, boss = await world.somebody(ALICE), await world.somebody(BOB | {"roles": ["admin"]})
    keys = {
        right: await world.admin.send(
            "POST",
            "/api_keys",
            json={"name": right, "access": [{"group": "Users", "access_rights": [right]}]},
        )
        for right in ("read", "update", "delete")
    }

    async def status(method: str, right: str, path: str) -> int:
        headers = {"Authorization": f"API-Key {await keys[right].text()}"}
        sent = {"data": form()} if method == "PUT" else {}
        answer = await world.admin.http.request(method, f"/auth/v1{path}", headers=headers, **sent)
        return answer.status

    path = f"/users/{alice.user_id}/picture"
    assert await status("PUT", "read", path) == 403
    assert await status("PUT", "update", path) == 200
    assert await status("PUT", "update", f"/users/{boss.user_id}/picture") == 403
    current = (await world.admin.ask("GET", f"/users/{alice.user_id}"))[1]["picture_id"]
    assert await status("DELETE", "update", f"{path}/{current}") == 403
    assert await status("DELETE", "delete", f"{path}/{current}") == 200


async def test_pages_learn_what_may_be_uploaded(world: World) -> None:
    answer = await world.admin.http.get("/auth/v1/users/picture_config")

    assert await answer.json() == {"upload_allowed": True, "content_len_limit": 65_536}


async def test_where_people_upload_nothing_administrators_do() -> None:
    async with running(PicturesConfig(upload_allowed=False)) as world:
        alice = await world.somebody(ALICE)

        own = await put(alice)
        given = await world.admin.send("PUT", f"/users/{alice.user_id}/picture", data=form())
        taken = await alice.own("DELETE", f"/picture/{await given.text()}")
        config = await (await world.admin.http.get("/auth/v1/users/picture_config")).json()

        assert (own.status, given.status, taken.status) == (403, 200, 200)
        assert config["upload_allowed"] is False


async def test_where_pictures_are_not_public_they_are_shown_to_whoever_may_read_the_account() -> None:
    async with running(PicturesConfig(public=False)) as world:
        alice, bob = await world.somebody(ALICE), await world.somebody(BOB)
        path = await has_put(alice)

        own, other = await alice.send("GET", path), await bob.send("GET", path)
        administrators = await world.admin.send("GET", path)

        assert (own.status, other.status, administrators.status) == (200, 403, 200)
        assert (await seen(world, path)).status == 401
        assert own.headers["Cache-Control"] == "private, no-cache"
        assert own.headers["Cross-Origin-Resource-Policy"] == "same-origin"
