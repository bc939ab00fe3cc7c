"""Administrators at the console of a real server: users, clients, labels, API keys, sessions, and bounds of a tenant."""

import base64
import json
import re

import httpx

from edge.console.identity.kinds import KINDS
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HEADING, HOSTILE, SHOWN, api, visit
from tests.browser.test_console_tasks import DONE, PROBLEM, ROWS, submitted
from tests.server_process import Addresses

PASSWORD = "correct horse battery staple 9"
CREATE = "form.stack button"


async def put(page: Page, **answers: str | bool) -> None:
    """Set inputs of the page by their names, in which two underscores stand for a dot."""
    for name, answer in answers.items():
        change = (
            f"checked = {json.dumps(answer)}" if isinstance(answer, bool) else f"value = {json.dumps(answer)}"
        )
        await page.run(f"(document.getElementsByName({name.replace('__', '.')!r})[0].{change})")


async def choose(page: Page, name: str, value: str) -> None:
    """Check the box of a value."""
    await page.run(
        f"(document.querySelector('[name={json.dumps(name)}][value={json.dumps(value)}]').checked = true)"
    )


async def created(page: Page, address: str, **answers: str | bool) -> None:
    await page.goto(address)
    await put(page, **answers)
    await submitted(page, CREATE)


async def confirmed(page: Page, form: str) -> None:
    """Open the confirmation of a form, and confirm."""
    has_opened = await page.run(f"document.querySelector('details:has([value={json.dumps(form)}])').open")
    assert has_opened is False
    await page.click(f'details:has([value="{form}"]) summary')
    await submitted(page, f'details:has([value="{form}"]) form button')


async def sign_in_as(page: Page, address: str, email: str) -> None:
    await page.goto(address)
    await page.until("!!document.getElementById('password')")
    await page.fill("#email", email)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
    await page.until(SHOWN)


def token(http: str, client: str, secret: str) -> int:
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
    return httpx.post(f"{http}/auth/v1/oidc/token", data=form, timeout=30).status_code


def signing_key(http: str) -> str:
    """Return the id of the key that signs access tokens."""
    with api(http) as session:
        header = session.headers["authorization"].removeprefix("Bearer ").partition(".")[0]
    return str(json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"])


def read(http: str, path: str, key: str = "") -> httpx.Response:
    """Read from the administration API, as an API key if there is one."""
    headers = {"authorization": f"API-Key {key}"} if key else {}
    return httpx.get(f"{http}/auth/v1/{path}", headers=headers, timeout=30)


async def test_a_user_is_made_found_changed_and_deleted_without_a_script(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/users")
    await page.without_scripts()
    await created(page, f"{identity}/new/groups", name="staff")
    await page.goto(f"{identity}/new/users")
    await put(page, fields__email="ada@example.com", fields__given_name="Ada", fields__password=PASSWORD)
    await choose(page, "fields.groups.names", "staff")
    await submitted(page, CREATE)
    address, made = await page.run("location.pathname"), await page.run(DONE)
    await page.goto(f"{identity}/users?search=ada&group=staff")
    rows = await page.run(ROWS)
    await page.goto(f"{addresses.http}{address}")
    await put(page, fields__email="admin@localhost", fields__family_name="Lovelace")
    await submitted(page, "form.stack button")
    refused = await page.run("document.querySelector('[aria-invalid]')?.name"), await page.run(PROBLEM)
    kept = await page.run("document.getElementsByName('fields.family_name')[0].value")
    await put(page, fields__email="ada@example.com", fields__enabled=False)
    await submitted(page, "form.stack button")
    saved, enabled = (
        await page.run(DONE),
        await page.run("document.getElementsByName('fields.enabled')[0].checked"),
    )
    await confirmed(page, "delete")
    deleted = await page.run(DONE), await page.run("location.pathname")
    await page.goto(f"{identity}/users?search=ada")

    assert made == "It is created."
    assert rows == ["ada@example.com"]
    assert refused[0] == "fields.email"
    assert refused[1].startswith("Email address: ")
    assert kept == "Lovelace"
    assert (saved, enabled) == ("The changes are saved.", False)
    assert deleted == ("It is deleted.", "/console/default/identity/users")
    assert await page.run("document.querySelector('.empty').textContent") == "No user matches."


async def test_a_client_is_made_and_its_secret_is_shown_once_and_rotated(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/clients")
    await created(page, f"{identity}/new/clients", id="robot", name="Robot", confidential=True)
    first = await page.run("document.getElementById('secret').textContent")
    await page.goto(f"{identity}/clients/robot")
    has_secret = first in await page.run("document.documentElement.outerHTML")
    await choose(page, "client.flows_enabled", "client_credentials")
    await submitted(page, "form.stack button")
    saved = await page.run(DONE)
    granted = token(addresses.http, "robot", first)
    await put(page, cache_current_hours="0")
    await confirmed(page, "rotate")
    second = await page.run("document.getElementById('secret').textContent")

    assert (saved, has_secret, granted) == ("The changes are saved.", False, 200)
    assert (token(addresses.http, "robot", first), token(addresses.http, "robot", second)) == (401, 200)


async def test_roles_scopes_attributes_and_an_api_key_are_made_and_used(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/roles")
    await page.goto(f"{identity}/new/roles")
    await put(page, name="reader")
    await choose(page, "permissions.names", "history:read")
    await submitted(page, CREATE)
    await created(page, f"{identity}/new/attributes", name="floor", desc="Where the desk is")
    await page.goto(f"{identity}/new/scopes")
    await put(page, name="desk")
    await choose(page, "attr_include_id", "floor")
    await submitted(page, CREATE)
    await page.goto(f"{identity}/attributes/floor")
    await put(page, new_name="storey")
    await submitted(page, "form.stack button")
    renamed = await page.run("location.pathname")
    await page.goto(f"{identity}/new/api-keys")
    await put(page, name="auditor")
    await choose(page, "access", "Roles:read")
    await choose(page, "access", "Scopes:read")
    await submitted(page, CREATE)
    key = await page.run("document.getElementById('secret').textContent")

    roles, scopes = (read(addresses.http, path, key).json() for path in ("roles", "scopes"))
    assert renamed == "/console/default/identity/attributes/storey"
    assert [role["permissions"] for role in roles if role["name"] == "reader"] == [["history:read"]]
    assert [scope["attr_include_id"] for scope in scopes if scope["name"] == "desk"] == [["storey"]]
    assert read(addresses.http, "users", key).status_code == 403


async def test_settings_of_a_tenant_are_changed_and_stay_whole(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/passwords")
    await put(page, policy__length_min="16", policy__include_digits="1")
    await submitted(page, "form.stack button")
    policy = read(addresses.http, "password_policy").json()
    await page.goto(f"{identity}/passwords")
    await put(page, policy__length_min="400")
    await page.run("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
    await submitted(page, "form.stack button")

    assert (policy["length_min"], policy["include_digits"]) == (16, 1)
    assert await page.run("document.querySelector('[aria-invalid]').name") == "policy.length_min"
    assert read(addresses.http, "password_policy").json() == policy


async def test_a_tenant_a_domain_and_a_provider_are_made_changed_and_deleted(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/tenants")
    await created(page, f"{identity}/new/tenants", id="brief", name="Brief")
    metadata = read(addresses.http, "brief/.well-known/openid-configuration").status_code
    await confirmed(page, "delete")
    await page.goto(f"{identity}/tenants")
    tenants = await page.run(ROWS)
    await created(
        page,
        f"{identity}/new/providers",
        fields__name="Work",
        fields__type="custom",
        fields__issuer="https://work.example.com",
        fields__authorization_endpoint="https://work.example.com/authorize",
        fields__token_endpoint="https://work.example.com/token",
        fields__userinfo_endpoint="https://work.example.com/me",
        fields__jwks_endpoint="https://work.example.com/keys",
        fields__client_id="gnomon",
        fields__token_endpoint_auth_method="client_secret_basic",
        client_secret="s3cret-at-work",
        fields__scope="openid email",
    )
    provider = (await page.run("location.pathname")).rpartition("/")[2]
    shows_secret = "s3cret-at-work" in await page.run("document.documentElement.outerHTML")
    await put(page, fields__name="Office")
    await submitted(page, "form.stack button")
    renamed = await page.run(DONE), await page.run(HEADING)
    await created(page, f"{identity}/new/domains", domain="example.com", target__type="password")
    await put(page, without_dns=True)
    await submitted(page, "form:has([value=verify]) button")
    verified = await page.run(DONE)
    await confirmed(page, "delete")
    await page.goto(f"{identity}/providers/{provider}")
    await confirmed(page, "delete")
    await page.goto(f"{identity}/providers")

    assert (metadata, "brief" in tenants) == (200, False)
    assert shows_secret is False
    assert renamed == ("The changes are saved.", "Office")
    assert verified == "The domain is verified."
    assert await page.run("document.querySelector('.empty').textContent") == "No provider matches."


async def test_sessions_are_ended_addresses_blocked_keys_rotated_and_events_tell_of_it(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/keys")
    before, signed_by = await page.run(ROWS), signing_key(addresses.http)
    await confirmed(page, "rotate")
    after, now_signed_by = await page.run(ROWS), signing_key(addresses.http)
    soon = await page.run("new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)")
    await created(page, f"{identity}/new/blocks", ip="192.0.2.77", exp=soon)
    blocked = await page.run(ROWS)
    await confirmed(page, "unblock")
    unblocked = await page.run(ROWS)
    await page.goto(f"{identity}/events?search=192.0.2.77")
    events = await page.run(ROWS)
    await page.goto(f"{identity}/sessions")
    await page.run(
        "([...document.querySelectorAll('tbody tr')].find((row) => row.innerText.includes('Yes')).id = 'own')"
    )
    await page.run("document.querySelector('#own details').open = true")
    await page.click("#own details form button")
    await page.until("!!document.getElementById('password')")

    # The next keys are published before they sign.
    assert set(before) <= set(after)
    assert signed_by != now_signed_by
    assert {signed_by, now_signed_by} <= set(after)
    assert ("192.0.2.77" in blocked, "192.0.2.77" in unblocked) == (True, False)
    assert "IpBlacklisted" in events


async def test_an_administrator_of_a_tenant_sees_the_tenant_alone(page: Page, addresses: Addresses) -> None:
    other = f"{addresses.http}/console/other/identity"
    await visit(page, f"{addresses.http}/console/default/")
    await page.goto(f"{other}/new/users")
    await put(page, fields__email="boss@other.example", fields__password=PASSWORD)
    await choose(page, "fields.roles.names", "admin")
    await submitted(page, CREATE)
    account = await page.run("location.pathname")
    await page.forget()
    await sign_in_as(page, f"{other}/users", "boss@other.example")
    users = await page.run(ROWS)
    kinds = await page.run(
        "[...document.querySelectorAll('nav[aria-label=Identity] a')].map((each) => each.text)"
    )
    await page.goto(f"{addresses.http}/console/other/identity/tenants")
    tenants = await page.run(HEADING)
    await page.goto(f"{addresses.http}{account.replace('/other/', '/default/')}")
    stranger = await page.run("document.body.innerText")
    await page.goto(f"{addresses.http}{account}")
    await confirmed(page, "end-sessions")

    assert await page.run(DONE) == "The sessions of the user are ended."
    assert users == ["boss@other.example"]
    assert "Tenants" not in kinds
    assert tenants == "There is no such page"
    assert "boss@other.example" not in stranger
    assert not re.search(r"Sign out everywhere", stranger)


async def test_every_page_of_administrators_can_be_read_and_used_and_shows_text_as_text(
    page: Page, addresses: Addresses
) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/users")
    await created(page, f"{identity}/new/attributes", name="look", desc=HOSTILE)
    found = {}
    for name, kind in KINDS.items():
        for path in (name, *((f"new/{name}",) if kind.create else ())):
            await page.goto(f"{identity}/{path}")
            found[path] = await faults(page)
            assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
    for name in ("users", "attributes", "clients"):
        await page.goto(f"{identity}/{name}")
        await page.goto(await page.run("document.querySelector('tbody th a').href"))
        await page.run("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
        found[f"one of {name}"] = await faults(page)

    assert {path: each for path, each in found.items() if each} == {}


async def test_a_client_gets_a_screen_after_its_preview(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/clients")
    await created(page, f"{identity}/new/clients", id="shop", name="Shop")
    await page.goto(f"{identity}/screens/shop")
    await put(
        page,
        settings__theme="dark",
        settings__accent_color="#0a7d4b",
        settings__login_heading="Welcome to the shop",
        settings__login_template="<screen><panel><auth-content></screen>",
    )
    await submitted(page, "form.stack button")
    refused = await page.run("document.querySelector('[aria-invalid]').name")
    kept = await page.run("document.getElementsByName('settings.login_heading')[0].value")
    await put(page, settings__login_template="")
    # The preview opens in this tab, so that the test reads it.
    await page.run("document.querySelectorAll('[name=preview]').forEach((each) => { each.formTarget = ''; })")
    await page.click("[name=preview][value='1']")
    await page.until("document.querySelector('h1')?.textContent.trim() === 'Welcome to the shop'")
    theme = await page.run("document.documentElement.dataset.theme")
    await page.goto(f"{identity}/screens/shop")
    before = await page.run("document.getElementsByName('settings.login_heading')[0].value")
    await put(page, settings__login_heading="Welcome to the shop")
    await submitted(page, "form.stack button")

    assert (refused, kept) == ("settings.login_template", "Welcome to the shop")
    assert (theme, before) == ("dark", "")
    assert await page.run(DONE) == "The changes are saved."
    assert await page.run(HEADING) == "shop"
    assert (
        await page.run("document.getElementsByName('settings.login_heading')[0].value")
        == "Welcome to the shop"
    )


async def test_a_new_event_appears_in_the_open_list(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/events")
    before = await page.run("document.body.innerText.includes('192.0.2.98')")
    await page.run("(window.isOpen = true)")
    form = """new URLSearchParams({csrf_token: document.querySelector('[name=csrf_token]').value,
      form: 'create', ip: '192.0.2.98',
      exp: new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)})"""
    status = await page.run(
        f"fetch('/console/default/identity/new/blocks', {{method: 'POST', body: {form}}}).then((each) => each.status)"
    )
    await page.until("document.querySelector('[data-part=rows]').innerText.includes('192.0.2.98')")

    assert (before, status) == (False, 200)
    assert await page.run("window.isOpen") is True
