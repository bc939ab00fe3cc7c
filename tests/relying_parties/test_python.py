"""Relying party libraries for Python run their flows against the running provider."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import environ
from pathlib import Path

import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from idpyoidc.client.rp_handler import RPHandler
from requests_oauthlib import OAuth2Session as OauthlibSession

from tests.people.person import Arrival, Page, Person
from tests.people.provider import POST_LOGOUT_REDIRECT_URI, REDIRECT_URI, SECRET, Provider

SCOPE = "openid profile email offline_access"
VERIFIER = "a-verifier-of-forty-three-characters-or-more-00"


@pytest.fixture
def token_url(provider: Provider) -> str:
    return f"{provider.issuer}oidc/token"


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_signs_in_refreshes_and_revokes(
    provider: Provider, person: Person, token_url: str, *, method: str
) -> None:
    with AuthlibSession(
        "confidential",
        SECRET,
        scope=SCOPE,
        redirect_uri=REDIRECT_URI,
        token_endpoint_auth_method=method,
        code_challenge_method="S256",
    ) as session:
        url, state = session.create_authorization_url(
            f"{provider.issuer}oidc/authorize", code_verifier=VERIFIER
        )
        arrival = person.sign_in(url)
        tokens = session.fetch_token(
            token_url, authorization_response=arrival.url, state=state, code_verifier=VERIFIER
        )
        claims = session.get(f"{provider.issuer}oidc/userinfo").json()
        refreshed = session.refresh_token(token_url, refresh_token=tokens["refresh_token"])
        inspected = session.introspect_token(
            f"{provider.issuer}oidc/introspect", token=refreshed["access_token"]
        ).json()
        session.revoke_token(f"{provider.issuer}oidc/token/revoke", token=refreshed["refresh_token"])
        revoked = session.introspect_token(
            f"{provider.issuer}oidc/introspect", token=refreshed["access_token"]
        ).json()

    assert claims["email"] == person.email
    assert refreshed["refresh_token"] != tokens["refresh_token"]
    assert inspected["active"]
    assert revoked == {"active": False}


def test_authlib_makes_the_challenge_that_the_provider_checks(
    provider: Provider, person: Person, token_url: str
) -> None:
    challenge = create_s256_code_challenge(VERIFIER)
    with AuthlibSession(
        "public", scope=SCOPE, redirect_uri=REDIRECT_URI, token_endpoint_auth_method="none"
    ) as session:
        url, state = session.create_authorization_url(
            f"{provider.issuer}oidc/authorize", code_challenge=challenge, code_challenge_method="S256"
        )
        arrival = person.sign_in(url)

        tokens = session.fetch_token(
            token_url,
            authorization_response=arrival.url,
            state=state,
            code_verifier=VERIFIER,
        )

    assert tokens["id_token"]


@pytest.mark.usefixtures("insecure_transport")
def test_requests_oauthlib_signs_in_and_refreshes(provider: Provider, person: Person, token_url: str) -> None:
    with OauthlibSession("public", scope=SCOPE.split(), redirect_uri=REDIRECT_URI, pkce="S256") as session:
        url, _ = session.authorization_url(f"{provider.issuer}oidc/authorize")
        arrival = person.sign_in(url)
        tokens = session.fetch_token(token_url, authorization_response=arrival.url, include_client_id=True)
        claims = session.get(f"{provider.issuer}oidc/userinfo").json()
        refreshed = session.refresh_token(token_url, client_id="public")

    assert claims["given_name"] == "Alice"
    assert refreshed["refresh_token"] != tokens["refresh_token"]


@pytest.fixture
def insecure_transport() -> Iterator[None]:
    """The library refuses http, even on loopback, unless the environment allows it."""
    with _environment("OAUTHLIB_INSECURE_TRANSPORT", "1"):
        yield


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    environ[name] = value
    try:
        yield
    finally:
        del environ[name]


def test_idpyoidc_signs_in_and_out(
    provider: Provider, person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library writes its keys into the working directory.
    monkeypatch.chdir(tmp_path)
    handler = RPHandler(
        base_url="https://app.example.com",
        client_configs={
            "gnomon": {
                "issuer": provider.issuer.rstrip("/"),
                "client_id": "confidential",
                "client_secret": SECRET,
                "redirect_uris": [REDIRECT_URI],
                "post_logout_redirect_uris": [POST_LOGOUT_REDIRECT_URI],
                "client_type": "oidc",
                "preference": {"response_types": ["code"], "scope": SCOPE.split()},
                "allow": {"issuer_mismatch": True},
                "services": {
                    "discovery": {
                        "class": "idpyoidc.client.oidc.provider_info_discovery.ProviderInfoDiscovery"
                    },
                    "authorization": {"class": "idpyoidc.client.oidc.authorization.Authorization"},
                    "access_token": {"class": "idpyoidc.client.oidc.access_token.AccessToken"},
                    "refresh_access_token": {
                        "class": "idpyoidc.client.oidc.refresh_access_token.RefreshAccessToken"
                    },
                    "userinfo": {"class": "idpyoidc.client.oidc.userinfo.UserInfo"},
                    "end_session": {"class": "idpyoidc.client.oidc.end_session.EndSession"},
                },
            }
        },
    )
    url = handler.begin("gnomon", req_args={"scope": SCOPE.split()})
    page = person.visit(url)
    assert isinstance(page, Page)
    # For offline access the library sends `prompt=consent`: OpenID Connect Core 1.0 §11.
    question = person.submit(page)
    assert isinstance(question, Page)
    arrival = person.answer(question, "accept")
    assert isinstance(arrival, Arrival)

    session = handler.finalize(provider.issuer, dict(arrival.parameters))

    assert session["userinfo"]["email"] == person.email
    assert session["id_token"]["iss"] == provider.issuer
