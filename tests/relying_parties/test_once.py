"""Single-use operations succeed once, with a hundred concurrent callers at two processes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.certification.relying_party import RelyingParty
from tests.people.person import SECONDS, Page, Person
from tests.people.proof_of_work import solved
from tests.people.provider import Provider
from tests.people.provider import provider as running
from tests.server_process import MODES

CALLERS = 100
# Within the grace period a retry gets the same response; without it, only the first caller gets one.
NO_GRACE = """
[token]
refresh_grace_secs = 0

[cluster]
partitions = 2
"""


@pytest.fixture(scope="module", params=MODES)
def provider(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """One process in memory, and two processes with PostgreSQL."""
    with running(request.param, extra=NO_GRACE) as started:
        yield started


@pytest.fixture
def party(provider: Provider, person: Person) -> RelyingParty:
    return RelyingParty(provider, person, scope="openid offline_access")


@pytest.fixture
def person(provider: Provider) -> Iterator[Person]:
    with provider.person() as somebody:
        yield somebody


def together(call: Callable[[], requests.Response]) -> Counter[int]:
    """Call concurrently, and return the number of responses by status."""
    with ThreadPoolExecutor(CALLERS) as callers:
        answers = [callers.submit(call) for _ in range(CALLERS)]
        return Counter(answer.result().status_code for answer in answers)


def at_the_token_endpoint(party: RelyingParty, form: Mapping[str, str]) -> Counter[int]:
    return together(lambda: party.post("oidc/token", form))


def test_a_code_is_redeemed_once(party: RelyingParty) -> None:
    code = party.authorized().parameters["code"]

    assert together(lambda: party.exchange(code)) == {200: 1, 400: CALLERS - 1}


def test_a_refresh_token_is_good_once(party: RelyingParty) -> None:
    token = party.signed_in().tokens["refresh_token"]

    statuses = at_the_token_endpoint(party, {"grant_type": "refresh_token", "refresh_token": token})

    assert statuses == {200: 1, 400: CALLERS - 1}


def test_a_device_code_is_redeemed_once(party: RelyingParty) -> None:
    started = party.post("oidc/device", {"scope": "openid"}).json()
    party.person.let_device_in(started["verification_uri_complete"])

    statuses = at_the_token_endpoint(
        party,
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": started["device_code"],
        },
    )

    assert statuses == {200: 1, 400: CALLERS - 1}


def test_a_proof_of_work_is_spent_once(party: RelyingParty) -> None:
    page = party.person.visit(party.url())
    assert isinstance(page, Page)
    headers = {"x-csrf-token": str(page.state["csrf_token"])}
    cookies = party.person.browser.cookies.get_dict()
    body = {
        "authorization_id": page.state["authorization_id"],
        "email": "nobody@example.com",
        "password": "wrong",
        "pow": solved(party.person.challenge()),
    }

    statuses = together(
        lambda: requests.post(
            f"{party.provider.issuer}oidc/authorize",
            json=body,
            headers=headers,
            cookies=cookies,
            timeout=SECONDS,
        )
    )

    # One caller gets the error for a wrong password; for the others the proof of work is used up.
    assert statuses == {401: 1, 404: CALLERS - 1}
