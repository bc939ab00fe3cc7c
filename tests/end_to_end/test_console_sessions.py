"""Sessions of browsers at the process API: the cookie of a person who signed in, and X-CSRF-Token for changes."""

from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import urlencode

import httpx
import pytest
import requests

from edge.contract import Route, routes
from server.platform.policy import Mode
from tests.end_to_end.servers import MODES, Server, offered
from tests.end_to_end.test_access import BODIES, FORMS
from tests.people.person import Page, Person

VERIFIER = "v" * 43
SEARCH = "/v2/process-instances/search"
ROLE = {"roleId": "shown-in-a-browser", "name": "Shown"}

# POST requests that only read: a test names them, so that an operation becomes one of them on purpose.
READ_BY_POST = {
    *("Search", "GetJobTypeStatistics", "GetJobWorkerStatistics", "GetJobTimeSeriesStatistics"),
    *("GetJobErrorStatistics", "GetProcessDefinitionStatistics", "GetProcessDefinitionInstanceStatistics"),
    "GetProcessDefinitionInstanceVersionStatistics",
    "GetProcessDefinitionMessageSubscriptionStatistics",
    *("GetProcessInstanceStatisticsByError", "GetProcessInstanceStatisticsByDefinition", "ListUserTasks"),
}

# Path variables that are no keys.
_NAMED = {"tenant_id": "default"}


class Browser:
    """A person at a browser of the server; `csrf_token` is what pages of the provider have."""

    def __init__(self, server: Server, email: str, password: str) -> None:
        self.issuer = httpx.get(f"{server.http}/.well-known/openid-configuration").json()["issuer"]
        self.origin = self.issuer.removesuffix("/auth/v1/")
        self._person = Person(self.issuer, email, password)
        page = self._person.visit(f"{self.issuer}oidc/authorize?{urlencode(self._authorization_request())}")
        assert isinstance(page, Page)
        self._person.submit(page)
        self.csrf_token = str(self._person.session()["csrf_token"])

    def _authorization_request(self) -> dict[str, str]:
        challenge = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        return {
            "response_type": "code",
            "client_id": "gnomon-console",
            "redirect_uri": f"{self.issuer}admin/callback",
            "scope": "openid",
            "nonce": "n",
            "state": "s",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }

    def send(
        self, method: str, path: str, body: object = None, *, proves: bool = True, **headers: str
    ) -> requests.Response:
        """Send a request with the cookies and, if it `proves` its page, the CSRF token."""
        sent = {"x-tenant-id": "default", **({"x-csrf-token": self.csrf_token} if proves else {}), **headers}
        return self._person.browser.request(
            method, f"{self.origin}{path}", json=body, headers=sent, timeout=30
        )

    def send_route(self, route: Route, *, proves: bool) -> requests.Response:
        fields = {field.name: _NAMED.get(field.name, "1") for field in route.path_fields}
        path = f"{self.origin}{route.path.format_map(fields)}"
        headers = {"x-tenant-id": "default", **({"x-csrf-token": self.csrf_token} if proves else {})}
        name = route.policy.name
        form = {"resources": ("a.txt", b"a")} if name == "CreateDeployment" else FORMS.get(name)
        body = None if form is not None or route.method in {"GET", "DELETE"} else BODIES.get(name, {})
        return self._person.browser.request(
            route.method, path, files=form, json=body, headers=headers, timeout=30
        )

    def sign_out(self) -> None:
        answer = self._person.browser.post(
            f"{self.issuer}oidc/logout", data={"csrf_token": self.csrf_token}, timeout=30
        )
        answer.raise_for_status()

    def close(self) -> None:
        self._person.close()


@pytest.fixture(scope="module")
def browser(server: Server) -> Iterator[Browser]:
    browser = Browser(server, "admin@localhost", "administrator")
    yield browser
    browser.close()


def test_a_person_reads_with_the_cookie_alone(browser: Browser) -> None:
    assert browser.send("GET", "/v2/topology", proves=False).status_code == 200
    assert browser.send("POST", SEARCH, {}, proves=False).status_code == 200


def test_a_change_needs_the_csrf_token(browser: Browser) -> None:
    unproved = browser.send("POST", "/v2/roles", ROLE, proves=False)
    wrong = browser.send("POST", "/v2/roles", ROLE, **{"x-csrf-token": "wrong"})
    proved = browser.send("POST", "/v2/roles", ROLE)
    browser.send("DELETE", f"/v2/roles/{ROLE['roleId']}").raise_for_status()

    assert (unproved.status_code, wrong.status_code, proved.status_code) == (403, 403, 201)
    assert unproved.json() == {
        "type": "urn:bpm:error:forbidden",
        "title": "FORBIDDEN",
        "status": 403,
        "detail": "expected X-CSRF-Token with the token of the session",
        "instance": "/v2/roles",
    }


def test_a_person_is_told_about_itself(browser: Browser) -> None:
    found = browser.send("GET", "/v2/authentication/me").json()

    assert (found["username"], found["email"]) == ("admin@localhost", "admin@localhost")
    assert {tenant["tenantId"] for tenant in found["tenants"]} >= {"default", "other"}


def test_a_person_of_several_tenants_names_one(browser: Browser) -> None:
    answer = browser.send("GET", "/v2/topology", **{"x-tenant-id": ""})

    assert answer.status_code == 400


def test_a_cookie_of_no_session_is_no_credential(server: Server) -> None:
    cookies = "GnomonSession=abc; __Host-GnomonSession=abc; GnomonSession.default=abc"
    answer = httpx.get(f"{server.http}/v2/topology", headers={"cookie": cookies})

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_of_another_site_has_no_session(browser: Browser, site: str) -> None:
    answer = browser.send("GET", "/v2/topology", **{"Sec-Fetch-Site": site})

    assert answer.status_code == 401


def test_a_token_counts_before_a_session(server: Server, browser: Browser) -> None:
    reader = browser.send("POST", "/v2/roles", ROLE, authorization=f"Bearer {server.token('reader')}")
    nobody = browser.send("GET", "/v2/topology", authorization="Bearer x")

    assert (reader.status_code, nobody.status_code) == (403, 401)
    assert "needs permission" in reader.json()["detail"]


def test_a_person_without_the_permission_is_refused(server: Server, browser: Browser) -> None:
    person = {"username": "nobody@example.com", "password": "correct horse battery staple"}
    browser.send("POST", "/v2/users", person)
    restricted = Browser(server, person["username"], person["password"])

    answer = restricted.send("POST", SEARCH, {})
    restricted.close()

    assert (answer.status_code, answer.json()["title"]) == (403, "FORBIDDEN")


def test_a_session_ends_at_once(server: Server) -> None:
    leaving = Browser(server, "admin@localhost", "administrator")
    cookies = leaving.send("GET", "/v2/topology").request.headers["cookie"]
    leaving.sign_out()

    answer = httpx.get(f"{server.http}/v2/topology", headers={"cookie": cookies, "x-tenant-id": "default"})
    leaving.close()

    assert answer.status_code == 401


def test_sessions_count_at_the_edge_alone(server: Server, browser: Browser) -> None:
    cookies = browser.send("GET", "/v2/topology").request.headers["cookie"]
    session = cookies.partition("=")[2].partition(";")[0]

    answer = httpx.get(f"{server.http}/v2/topology", headers={"x-browser-sessions": f"={session}"})

    assert answer.status_code == 401


@pytest.mark.parametrize("server", MODES, indirect=True)
def test_every_operation_accepts_a_session_and_every_change_needs_proof(
    server: Server, browser: Browser
) -> None:
    unproved = {
        route.policy.path: browser.send_route(route, proves=False).status_code
        for route in offered(server.mode)
    }

    changes = {route.policy.path for route in offered(server.mode) if not route.policy.is_read}
    assert {path for path, status in unproved.items() if status == 401} == set()
    assert {path for path, status in unproved.items() if status == 403} == changes


@pytest.mark.parametrize("mode", MODES)
def test_only_reads_need_no_proof(mode: Mode) -> None:
    reads = {route.policy.name for route in offered(mode) if route.method != "GET" and route.policy.is_read}

    assert {name for name in reads if not name.startswith("Search")} <= READ_BY_POST
    assert all(
        route.policy.is_read for route in routes() if route.method == "GET" and route.policy.needs_principal
    )
