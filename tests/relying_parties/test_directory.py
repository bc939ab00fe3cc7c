"""Directory changes apply to the next call of the process API.

With one process the next call sees the change. With two processes, both see it soon.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

import pytest
import requests

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS
from tests.people.provider import REDIRECT_URI, SECRET, Provider
from tests.people.provider import provider as running
from tests.server_process import MODES

# The user's group is `readers`; the user may grant the portal permissions that the user has.
PORTAL = f"""
[[bootstrap.clients]]
id = "portal"
secret = "{SECRET}"
redirect_uris = ["{REDIRECT_URI}"]
scopes = ["openid", "groups", "history:read"]

[cluster]
partitions = 2
"""

SEARCH = "/v2/process-instances/search"
BRANCH = {"x-tenant-id": "branch"}
# Fresh connections, so that both processes get calls.
CALLS = 8


@dataclass
class Deployment:
    origin: str
    is_one_process: bool
    administrator: requests.Session
    person: str
    sign_in: Callable[[], str]

    def administer(self, method: str, path: str, body: object = None) -> dict[str, object]:
        answer = self.administrator.request(method, f"{self.origin}{path}", json=body, timeout=SECONDS)
        answer.raise_for_status()
        return dict(answer.json()) if answer.content else {}

    def role(self, name: str, *permissions: str) -> str:
        """Create a role and return its id."""
        body = {"role": name, "permissions": permissions}
        return str(self.administer("POST", "/auth/v1/roles", body)["id"])

    def permit(self, role_id: str, name: str, *permissions: str) -> None:
        self.administer("PUT", f"/auth/v1/roles/{role_id}", {"role": name, "permissions": permissions})

    def client(self, client_id: str, *scopes: str) -> str:
        """Create a client that acts in its own name, and return its secret."""
        new = {"id": client_id, "name": client_id, "confidential": True, "redirect_uris": []}
        created = self.administer("POST", "/auth/v1/clients", new)
        whole = {name: value for name, value in created.items() if name != "secret"}
        own = {"flows_enabled": ["client_credentials"], "scopes": ["openid", *scopes]}
        self.administer("PUT", f"/auth/v1/clients/{client_id}", whole | own)
        return str(created["secret"])

    def token(self, client_id: str, secret: str) -> str:
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        answer = requests.post(f"{self.origin}/auth/v1/oidc/token", data=form, timeout=SECONDS)
        return str(answer.json()["access_token"])

    def rule(self, name: str, claim: str, value: str, *, method: str = "POST") -> None:
        path, own = ("", {"mappingRuleId": name}) if method == "POST" else (f"/{name}", {})
        body = {"name": name, "claimName": claim, "claimValue": value, **own}
        self.administer(method, f"/v2/mapping-rules{path}", body)

    def answers(self, status: int, token: str = "", **headers: str) -> bool:
        """Whether a search answers with this status, with the given token or the user's.

        With two processes it waits until both do.
        """
        bearer = {"Authorization": f"Bearer {token or self.person}", **headers}
        if self.is_one_process:
            return self._search(bearer) == status
        until = monotonic() + SECONDS
        while monotonic() < until:
            if {self._search(bearer) for _ in range(CALLS)} == {status}:
                return True
        return False

    def _search(self, bearer: dict[str, str]) -> int:
        return requests.post(f"{self.origin}{SEARCH}", json={}, headers=bearer, timeout=SECONDS).status_code


def administrator_of(provider: Provider) -> requests.Session:
    form = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
    token = requests.post(f"{provider.issuer}oidc/token", data=form, timeout=SECONDS).json()["access_token"]
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {token}"
    return session


@pytest.fixture(scope="module", params=MODES)
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    with running(request.param, extra=PORTAL) as provider, provider.person() as person:
        party = RelyingParty(provider, person, client_id="portal", scope="openid groups history:read")
        origin = provider.issuer.removesuffix("/auth/v1/")

        def sign_in() -> str:
            return party.signed_in().access_token

        started = Deployment(
            origin, request.param == "embedded", administrator_of(provider), sign_in(), sign_in
        )
        started.administer("POST", "/auth/v1/groups", {"group": "readers"})
        yield started


def test_a_role_permits_what_it_says_now(deployment: Deployment) -> None:
    role = deployment.role("clerk")
    deployment.administer("PUT", "/v2/roles/clerk/groups/readers")
    assert deployment.answers(403)

    deployment.permit(role, "clerk", "history:read")
    assert deployment.answers(200)

    deployment.permit(role, "clerk")
    assert deployment.answers(403)


def test_a_group_has_the_roles_that_it_has_now(deployment: Deployment) -> None:
    deployment.role("reader", "history:read")
    assert deployment.answers(403)

    deployment.administer("PUT", "/v2/roles/reader/groups/readers")
    assert deployment.answers(200)

    deployment.administer("DELETE", "/v2/roles/reader/groups/readers")
    assert deployment.answers(403)


def test_a_role_that_is_gone_permits_nothing(deployment: Deployment) -> None:
    role = deployment.role("temporary", "history:read")
    deployment.administer("PUT", "/v2/roles/temporary/groups/readers")
    assert deployment.answers(200)

    deployment.administer("DELETE", f"/auth/v1/roles/{role}")
    assert deployment.answers(403)


def test_a_rule_gives_to_whoever_has_the_claim(deployment: Deployment) -> None:
    deployment.role("mapped", "history:read")
    deployment.rule("by-group", "groups", "readers")
    assert deployment.answers(403)

    deployment.administer("PUT", "/v2/roles/mapped/mapping-rules/by-group")
    assert deployment.answers(200)

    deployment.rule("by-group", "groups", "writers", method="PUT")
    assert deployment.answers(403)

    deployment.rule("by-group", "azp", "portal", method="PUT")
    assert deployment.answers(200)

    deployment.administer("DELETE", "/v2/mapping-rules/by-group")
    assert deployment.answers(403)


def test_a_rule_opens_a_tenant(deployment: Deployment) -> None:
    deployment.administer("POST", "/auth/v1/tenants", {"id": "branch"})
    deployment.role("travelling", "history:read")
    deployment.rule("traveller", "groups", "readers")
    deployment.administer("PUT", "/v2/roles/travelling/mapping-rules/traveller")
    assert deployment.answers(403, **BRANCH)

    deployment.administer("PUT", "/v2/tenants/branch/mapping-rules/traveller")
    assert deployment.answers(200, **BRANCH)

    deployment.administer("DELETE", "/v2/tenants/branch/mapping-rules/traveller")
    assert deployment.answers(403, **BRANCH)
    deployment.administer("DELETE", "/v2/mapping-rules/traveller")


def test_whose_account_is_disabled_is_not_let_in(deployment: Deployment) -> None:
    user = deployment.administer("GET", "/auth/v1/users/email/alice@example.com")
    path = f"/auth/v1/users/{user['id']}"
    assert deployment.answers(403)

    deployment.administer("PATCH", path, {"put": [{"key": "enabled", "value": False}]})
    assert deployment.answers(401)

    deployment.administer("PATCH", path, {"put": [{"key": "enabled", "value": True}]})
    # A disabled account is signed out, so its former token stays invalid.
    assert deployment.answers(401)

    deployment.person = deployment.sign_in()
    assert deployment.answers(403)


def test_a_client_that_was_made_over_the_api_does_what_its_scopes_permit(deployment: Deployment) -> None:
    secret = deployment.client("scoped", "history:read")

    assert deployment.answers(200, deployment.token("scoped", secret))
    assert deployment.answers(403, deployment.token("bare", deployment.client("bare")))


def test_a_client_that_was_made_over_the_api_does_what_its_role_permits(deployment: Deployment) -> None:
    deployment.role("client-reader", "history:read")
    secret = deployment.client("assigned")
    assert deployment.answers(403, deployment.token("assigned", secret))

    deployment.administer("PUT", "/v2/roles/client-reader/clients/assigned")
    token = deployment.token("assigned", secret)
    assert deployment.answers(200, token)

    deployment.administer("DELETE", "/v2/roles/client-reader/clients/assigned")
    assert deployment.answers(403, token)
