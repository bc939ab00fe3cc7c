"""GET and PUT /clients/{id}/screens, POST /clients/{id}/screens/preview."""

import asyncio
import re
from typing import Any

import pytest
from aiohttp import ClientResponse
from lxml import html

from identity.authentication.client_screens import CLIENT_SCREENS, ClientScreens
from identity.authentication.screens.settings import ScreenSettings
from server.platform.call import TenantId
from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.edge.oidc.protocol.provider import directives
from tests.identity.deployment import Deployment

NEW = {"id": "app", "name": "The app", "confidential": False, "redirect_uris": ["https://app.example.com/cb"]}
SCREENS = "clients/app/screens"
PREVIEW = f"{SCREENS}/preview"
TEMPLATE = "<screen><heading>Hello</heading><auth-content/></screen>"
DEFAULTS: dict[str, Any] = {
    "theme": "light",
    "composition": "centered",
    "accent_color": "#0b57d0",
    "login_heading": "",
    "login_description": "",
    "logout_heading": "",
    "logout_description": "",
    "show_client_logo": True,
    "logout_theme": None,
    "logout_composition": None,
    "logout_accent_color": None,
    "logout_show_client_logo": None,
    "login_template": None,
    "logout_template": None,
    "custom_css": None,
    "logout_custom_css": None,
}
WHOLE = DEFAULTS | {
    "theme": "dark",
    "composition": "split",
    "accent_color": "#ABCDEF",
    "login_heading": "Welcome <b>&\"' \u200f",
    "login_description": "To the app",
    "logout_heading": "Bye",
    "logout_description": "See you",
    "show_client_logo": False,
    "logout_theme": "light",
    "logout_composition": "centered",
    "logout_accent_color": "#000000",
    "logout_show_client_logo": True,
    "login_template": TEMPLATE,
    "logout_template": TEMPLATE,
    "custom_css": ".custom-screen p{color:red}",
    "logout_custom_css": "",
}
NOTHING_REMOVED = {"custom_css": 0, "logout_custom_css": 0}


@pytest.fixture
async def administrator(administrator: Administrator) -> Administrator:
    """An administrator with a client."""
    assert (await administrator.send("POST", "clients", NEW)).status == 200
    return administrator


async def screens(administrator: Administrator) -> dict[str, Any]:
    answer = await administrator.send("GET", SCREENS)
    assert answer.status == 200
    return dict(await answer.json())


def draft(screen: str = "login", **settings: object) -> dict[str, object]:
    return {"screen": screen, "settings": DEFAULTS | settings}


async def test_a_client_without_settings_has_the_defaults(administrator: Administrator) -> None:
    assert await screens(administrator) == DEFAULTS


async def test_what_is_saved_is_there(administrator: Administrator) -> None:
    answer = await administrator.send("PUT", SCREENS, WHOLE)

    assert (answer.status, await answer.json()) == (200, WHOLE | {"removed_rules": NOTHING_REMOVED})
    assert await screens(administrator) == WHOLE
    assert "Changed" in await administrator.typs()


async def test_members_that_are_left_out_are_the_defaults(administrator: Administrator) -> None:
    await administrator.send("PUT", SCREENS, WHOLE)

    answer = await administrator.send("PUT", SCREENS, {"theme": "dark"})

    assert answer.status == 200
    assert await screens(administrator) == DEFAULTS | {"theme": "dark"}


async def test_a_stylesheet_is_answered_and_kept_sanitized(administrator: Administrator) -> None:
    sent = {
        "custom_css": "h1 { color: red; position: fixed } @import 'x';",
        "logout_custom_css": "p{background:url(x)}",
    }

    saved = await (await administrator.send("PUT", SCREENS, sent)).json()

    assert saved["removed_rules"] == {"custom_css": 2, "logout_custom_css": 1}
    assert (saved["custom_css"], saved["logout_custom_css"]) == (".card h1{color:red}", "")
    assert await screens(administrator) == {name: saved[name] for name in DEFAULTS}


async def test_what_was_answered_is_saved_again_as_it_is(administrator: Administrator) -> None:
    saved = await (await administrator.send("PUT", SCREENS, {"custom_css": "h1,.card{a:b}"})).json()

    again = await administrator.send("PUT", SCREENS, saved)
    once_more = await administrator.send("PUT", SCREENS, await screens(administrator))

    assert (again.status, await again.json()) == (200, saved)
    assert (once_more.status, await once_more.json()) == (200, saved)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"theme": "Dark"}, "theme"),
        ({"theme": "blue"}, "theme"),
        ({"logout_theme": ""}, "logout_theme"),
        ({"composition": "left"}, "composition"),
        ({"logout_composition": "left"}, "logout_composition"),
        ({"accent_color": "#12345"}, "accent_color"),
        ({"accent_color": "red"}, "accent_color"),
        ({"logout_accent_color": "#GGGGGG"}, "logout_accent_color"),
        ({"login_heading": "a\u202eb"}, "login_heading"),
        ({"login_template": "<screen/>"}, "login_template"),
        ({"logout_template": "<!DOCTYPE x><screen><auth-content/></screen>"}, "logout_template"),
        ({"custom_css": "h1{color}"}, "custom_css"),
        ({"logout_custom_css": "> h1{a:b}"}, "logout_custom_css"),
        ({"custom_css": " " * 32_769}, "custom_css"),
    ],
    ids=str,
)
async def test_what_is_refused_is_named_and_changes_nothing(
    administrator: Administrator, change: dict[str, object], field: str
) -> None:
    await administrator.send("PUT", SCREENS, WHOLE)

    answer = await administrator.send("PUT", SCREENS, DEFAULTS | {"login_heading": "New"} | change)

    refusal = await answer.json()
    assert (answer.status, refusal["error"], refusal["field"]) == (400, "BadRequest", field)
    assert await screens(administrator) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"login_heading": "a" * 121},
        {"logout_description": "a" * 501},
        {"login_template": " " * 8193},
        {"custom_css": " " * 524_289},
        {"surprise": 1},
        {"theme": None},
        {"show_client_logo": "yes"},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_what_no_screens_are_is_refused(
    administrator: Administrator, change: dict[str, object]
) -> None:
    answer = await administrator.send("PUT", SCREENS, change)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("path", "change", "field", "begin"),
    [
        (SCREENS, {"login_template": " " * 8193}, "login_template", "login_template: "),
        (SCREENS, {"login_heading": "a" * 121}, "login_heading", "login_heading: "),
        (
            "tenants/default/settings",
            {"registration": {"confirmation_link_hours": 169}},
            "confirmation_link_hours",
            "Payload validation error: registration.confirmation_link_hours: ",
        ),
    ],
)
async def test_a_refusal_spells_the_field_like_the_request(
    administrator: Administrator, path: str, change: dict[str, object], field: str, begin: str
) -> None:
    answer = await administrator.send("PUT", path, change)

    refusal = await answer.json()
    assert (answer.status, refusal["field"]) == (400, field)
    assert refusal["message"].startswith(begin)


async def test_the_parsers_text_is_the_message(administrator: Administrator) -> None:
    answer = await administrator.send("PUT", SCREENS, {"custom_css": "p{a:b}\n  } q{a:b}"})

    assert (await answer.json())["message"] == "line 2, column 3: Unmatched }"


async def test_bounds_are_those_of_what_is_sent(administrator: Administrator) -> None:
    css = "a{b:c}" + " " * 32_762
    template = TEMPLATE.replace("Hello", "a" * (8192 - len(TEMPLATE) + 5))

    answer = await administrator.send("PUT", SCREENS, {"custom_css": css, "login_template": template})

    assert answer.status == 200, await answer.text()


@pytest.mark.parametrize("body", [b'{"login_heading":"\xff"}', b"[]", b"", b"{"])
async def test_what_is_no_document_is_refused(administrator: Administrator, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    answer = await administrator.send("PUT", SCREENS, data=body, headers=headers)

    assert answer.status == 400


@pytest.mark.parametrize(
    "path", ["clients/other/screens", "acme/clients/app/screens", "clients/%C3%A4/screens"]
)
async def test_screens_of_a_client_that_there_is_not_are_not_found(
    administrator: Administrator, path: str
) -> None:
    answers = [
        await administrator.send("GET", path),
        await administrator.send("PUT", path, DEFAULTS),
        await administrator.send("POST", f"{path}/preview", draft()),
    ]

    assert [answer.status for answer in answers] == [404, 404, 404]


async def test_the_providers_own_clients_keep_the_default_theme(administrator: Administrator) -> None:
    path = "clients/gnomon-console/screens"

    read = await administrator.send("GET", path)
    saved = await administrator.send("PUT", path, {"custom_css": "*{display:none}"})

    assert (read.status, saved.status) == (200, 409)


async def test_screens_go_with_their_client(administrator: Administrator) -> None:
    await administrator.send("PUT", SCREENS, WHOLE)

    await administrator.send("DELETE", "clients/app")
    gone = await administrator.send("GET", SCREENS)
    await administrator.send("POST", "clients", NEW)

    assert gone.status == 404
    assert await screens(administrator) == DEFAULTS


async def test_a_new_client_starts_clean_whatever_was_left_behind(
    administrator: Administrator, deployment: Deployment
) -> None:
    left = ClientScreens(
        tenant_id=TenantId("default"), id="late", settings=ScreenSettings(login_heading="Old")
    )
    await deployment.store.of(CLIENT_SCREENS).insert(left)

    await administrator.send("POST", "clients", NEW | {"id": "late"})

    answer = await administrator.send("GET", "clients/late/screens")
    assert await answer.json() == DEFAULTS


async def test_screens_stay_when_their_client_changes(administrator: Administrator) -> None:
    await administrator.send("PUT", SCREENS, WHOLE)
    client = await (await administrator.send("GET", "clients/app")).json()

    changed = await administrator.send("PUT", "clients/app", client | {"name": "Other", "enabled": False})

    assert changed.status == 200, await changed.text()
    assert await screens(administrator) == WHOLE


async def test_of_changes_at_the_same_time_one_is_kept_whole(administrator: Administrator) -> None:
    wanted = [DEFAULTS | {"login_heading": str(n), "logout_heading": str(n)} for n in range(8)]

    answers = await asyncio.gather(*(administrator.send("PUT", SCREENS, each) for each in wanted))

    assert {answer.status for answer in answers} == {200}
    assert await screens(administrator) in wanted


async def test_an_entity_tag_keeps_a_change_from_being_overwritten(administrator: Administrator) -> None:
    read = await administrator.send("GET", SCREENS)
    unchanged = {"If-Match": read.headers["ETag"]}

    first = await administrator.send("PUT", SCREENS, {"theme": "dark"}, headers=unchanged)
    second = await administrator.send("PUT", SCREENS, {"theme": "light"}, headers=unchanged)
    weak = {"If-Match": f"W/{first.headers['ETag']}"}
    third = await administrator.send("PUT", SCREENS, {"theme": "light"}, headers=weak)

    assert [answer.status for answer in (first, second, third)] == [200, 412, 412]
    assert (await second.json())["error"] == "PreconditionFailed"
    assert (await screens(administrator))["theme"] == "dark"


async def test_whoever_has_the_settings_already_is_told_so(administrator: Administrator) -> None:
    saved = await administrator.send("PUT", SCREENS, WHOLE)

    known = {"If-None-Match": saved.headers["ETag"]}
    same = await administrator.send("GET", SCREENS, headers=known)
    await administrator.send("PUT", SCREENS, DEFAULTS)
    other = await administrator.send("GET", SCREENS, headers=known)

    assert (same.status, await same.read(), other.status) == (304, b"", 200)


async def test_who_may_not_is_refused(administrator: Administrator, http: Http) -> None:
    reader = await administrator.key("reader", Screens=["read"])
    other = await administrator.key("other", Clients=["read", "update"])

    async def statuses(caller: Administrator) -> list[int]:
        answers = [
            await caller.send("GET", SCREENS),
            await caller.send("PUT", SCREENS, DEFAULTS),
            await caller.send("POST", PREVIEW, draft()),
        ]
        return [answer.status for answer in answers]

    stranger = Administrator(http, "Bearer x")
    assert await statuses(stranger) == [401, 401, 401]
    assert await statuses(other) == [403, 403, 403]
    assert await statuses(reader) == [200, 403, 403]
    assert (await http.put(f"/auth/v1/{SCREENS}", json=DEFAULTS)).status == 401


async def test_a_page_of_somebody_else_changes_nothing(administrator: Administrator) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}

    answer = await administrator.send("PUT", SCREENS, WHOLE, headers=headers)

    assert answer.status == 400
    assert await screens(administrator) == DEFAULTS


async def page(response: ClientResponse) -> html.HtmlElement:
    assert (response.status, response.content_type) == (200, "text/html"), await response.text()
    return html.document_fromstring(await response.text())


@pytest.mark.parametrize("template", [None, TEMPLATE])
@pytest.mark.parametrize(("screen", "heading"), [("login", "Sign in"), ("logout", "Sign out?")])
async def test_a_preview_can_be_looked_at_and_nothing_else(
    administrator: Administrator, screen: str, heading: str, template: str | None
) -> None:
    settings = {f"{screen}_template": template, "custom_css": "h1{color:red}"}

    response = await administrator.send("POST", PREVIEW, draft(screen, **settings))

    found, policy = await page(response), directives(response)
    root = "custom-screen" if template else "card"
    assert heading in found.xpath("string(//main)")
    assert f".{root} h1{{color:red}}" in found.xpath("string(//style)")
    assert found.xpath("//script | //noscript | //iframe") == []
    assert found.xpath("boolean(//main/@inert)")
    assert found.xpath("//input[@name='csrf_token']/@value") == ([] if template else [""])
    assert "Set-Cookie" not in response.headers
    assert response.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "sandbox" in response.headers["Content-Security-Policy"].split("; ")
    assert policy["default-src"] == policy["form-action"] == "'none'"
    assert policy["frame-ancestors"] == policy["img-src"] == "'self'"
    assert re.fullmatch(r"'nonce-[\w-]+'", policy["style-src"])


async def test_a_preview_changes_nothing(administrator: Administrator) -> None:
    await administrator.send("PUT", SCREENS, WHOLE)
    before = await administrator.typs()

    await administrator.send("POST", PREVIEW, draft(login_heading="Draft"))

    assert await screens(administrator) == WHOLE
    assert await administrator.typs() == before


@pytest.mark.parametrize(
    "sent",
    [
        draft("other"),
        draft(custom_css="h1{color}"),
        draft("logout", login_template="<screen/>"),
        {"screen": "login"},
        DEFAULTS,
    ],
    ids=str,
)
async def test_a_draft_is_refused_like_what_is_saved(
    administrator: Administrator, sent: dict[str, object]
) -> None:
    answer = await administrator.send("POST", PREVIEW, sent)

    assert (answer.status, (await answer.json())["error"]) == (400, "BadRequest")
    assert await screens(administrator) == DEFAULTS
