"""Credentials of clients and persons: how they get them, and whether a node accepts them."""

import asyncio
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import assert_never
from urllib.parse import urlencode

import requests

from tests.campaigns.api import NotAnswered, until_answered
from tests.campaigns.http_api import HttpApi, connected
from tests.people.person import Person

PASSWORD = "correct horse battery staple"
REDIRECT_URI = "http://localhost/"
VERIFIER = "v" * 43
ATTEMPT_SECONDS = 25.0
UNAUTHENTICATED = 401


@dataclass(frozen=True, slots=True)
class Client:
    """A confidential client; `path` is that of its provider."""

    path: str
    id: str
    secret: str


class CredentialType(StrEnum):
    ACCESS_TOKEN = "access token"
    REFRESH_TOKEN = "refresh token"
    SECRET = "secret"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Credential:
    """`owner` is a client or a person; `value` is empty for a secret, otherwise a token or a cookie header."""

    owner: str
    type: CredentialType
    client: Client
    value: str = ""

    def __str__(self) -> str:
        return f"{self.type} of {self.owner}"

    async def is_accepted(self, url: str) -> bool:
        """Whether a node knows its owner. A refresh token that is accepted is used up."""
        async with connected([url], attempt_seconds=ATTEMPT_SECONDS) as api:
            return await until_answered(lambda: self._is_accepted(api))

    async def _is_accepted(self, api: HttpApi) -> bool:
        match self.type:
            case CredentialType.ACCESS_TOKEN:
                headers = {"authorization": f"Bearer {self.value}"}
                answer = await api.ask("POST", "/v2/process-instances/search", {}, headers=headers)
                return answer.status != UNAUTHENTICATED
            case CredentialType.SESSION:
                path = f"{self.client.path}oidc/sessioninfo"
                return (await api.ask("GET", path, headers={"cookie": self.value})).is_success
            case CredentialType.REFRESH_TOKEN:
                form = {"grant_type": "refresh_token", "refresh_token": self.value}
            case CredentialType.SECRET:
                form = {"grant_type": "client_credentials"}
            case _:
                assert_never(self.type)
        own = {"client_id": self.client.id, "client_secret": self.client.secret}
        return (await api.ask("POST", f"{self.client.path}oidc/token", form=own | form)).is_success


async def credentials_of_client(url: str, client: Client) -> tuple[Credential, ...]:
    """Its secret, and a token that it gets with that."""
    tokens = await _tokens(url, client, {"grant_type": "client_credentials"})
    return (
        Credential(client.id, CredentialType.SECRET, client),
        Credential(client.id, CredentialType.ACCESS_TOKEN, client, tokens["access_token"]),
    )


async def credentials_of_person(url: str, client: Client, email: str) -> tuple[Credential, ...]:
    """The session of a browser, and the tokens that the client gets at the sign-in."""

    async def attempt() -> tuple[str, Mapping[str, str]]:
        try:
            return await asyncio.to_thread(_sign_in, url, client, email)
        except (requests.RequestException, AssertionError) as error:
            raise NotAnswered(str(error)) from error

    code, cookies = await until_answered(attempt)
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI}
    tokens = await _tokens(url, client, form | {"code_verifier": VERIFIER})
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return (
        Credential(email, CredentialType.SESSION, client, cookie),
        Credential(email, CredentialType.ACCESS_TOKEN, client, tokens["access_token"]),
        Credential(email, CredentialType.REFRESH_TOKEN, client, tokens["refresh_token"]),
    )


async def _tokens(url: str, client: Client, form: Mapping[str, str]) -> Mapping[str, str]:
    """Ask until there are some: a node may not know the client yet."""
    own = {"client_id": client.id, "client_secret": client.secret}
    async with connected([url], attempt_seconds=ATTEMPT_SECONDS) as api:

        async def attempt() -> Mapping[str, str]:
            answer = await api.ask("POST", f"{client.path}oidc/token", form={**own, **form})
            if not answer.is_success:
                raise NotAnswered(answer.body.decode())
            return dict(json.loads(answer.body))

        return await until_answered(attempt)


def _sign_in(url: str, client: Client, email: str) -> tuple[str, Mapping[str, str]]:
    """Return the code and the browser's cookies."""
    challenge = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    parameters = {
        "response_type": "code",
        "client_id": client.id,
        "redirect_uri": REDIRECT_URI,
        "scope": "openid",
        "nonce": "n",
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    person = Person(f"{url}{client.path}", email, PASSWORD)
    arrival = person.sign_in(f"{person.issuer}oidc/authorize?{urlencode(parameters)}")
    assert "code" in arrival.parameters, arrival
    return arrival.parameters["code"], person.browser.cookies.get_dict()
