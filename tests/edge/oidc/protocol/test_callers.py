"""The caller of an administration endpoint, as passed to the services."""

import pytest

from gnomon.identity.v1 import browser_pb2, caller_pb2
from gnomon.identity.v1 import user_service_pb2 as pb
from tests.edge.oidc.protocol.provider import Provider

USER = "/auth/v1/users/ada"
PEER = browser_pb2.Browser(peer_address="127.0.0.1")
COOKIE = {"Cookie": "__Host-GnomonSession=s3cret"}


async def test_a_browser_that_reads_proves_nothing_more(provider: Provider) -> None:
    await provider.http.get("/auth/v1/users", headers=COOKIE)

    caller = provider.asked(pb.ListUsersRequest).caller
    assert (caller.browser.session, caller.is_read) == ("s3cret", True)


async def test_a_browser_that_changes_something_proves_its_page(provider: Provider) -> None:
    response = await provider.http.delete(USER, headers=COOKIE | {"x-csrf-token": "proof"})

    caller = provider.asked(pb.DeleteUserRequest).caller
    assert (response.status, caller.browser.csrf_token, caller.is_read) == (204, "proof", False)


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("API-Key robot$s3cret", caller_pb2.Caller(api_key="robot$s3cret", browser=PEER)),
        ("Bearer e.y.J", caller_pb2.Caller(access_token="e.y.J", browser=PEER)),
    ],
)
async def test_a_program_shows_what_it_has_and_its_address_and_no_cookie(
    provider: Provider, authorization: str, expected: caller_pb2.Caller
) -> None:
    await provider.http.delete(USER, headers=COOKIE | {"Authorization": authorization})

    assert provider.asked(pb.DeleteUserRequest).caller == expected


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic eA==",
        "DPoP e.y.J",
        "Bearer",
        "Bearer ",
        "API-Key é",
        f"API-Key {'x' * 513}",
        f"Bearer {'x' * 4097}",
    ],
)
async def test_what_we_do_not_take_is_refused_before_anybody_is_asked(
    provider: Provider, authorization: str
) -> None:
    response = await provider.http.delete(USER, headers={"Authorization": authorization})

    assert (response.status, (await response.json())["error"]) == (401, "Unauthorized")
    assert provider.servicers.requests == []


async def test_a_page_of_another_origin_asks_for_nothing(provider: Provider) -> None:
    response = await provider.http.delete(USER, headers=COOKIE | {"Sec-Fetch-Site": "cross-site"})

    assert response.status == 400
    assert provider.servicers.requests == []


@pytest.mark.parametrize(("path", "tenant_id"), [("/auth/v1/users", ""), ("/auth/v1/acme/users", "acme")])
async def test_the_address_names_the_tenant(provider: Provider, path: str, tenant_id: str) -> None:
    await provider.http.get(path, headers=COOKIE)

    assert provider.asked(pb.ListUsersRequest).tenant_id == tenant_id
