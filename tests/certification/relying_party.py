"""The relying party of the certification: it asks, checks every answer as the suite does, and keeps nothing else."""

import hashlib
import json
import re
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import requests
from joserfc import jwt
from joserfc.jwk import KeySet

from tests.people.person import SECONDS, Arrival, Page, Person
from tests.people.provider import REDIRECT_URI, SECRET, Provider

_DESCRIPTION = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]*")
_KNOWN_ERROR_MEMBERS = {"error", "error_description", "error_uri", "state", "iss"}
_UNUSUAL = 255


def unsigned(claims: Mapping[str, Any]) -> str:
    """A JWT that says that it needs no signature."""
    parts = (json.dumps(part).encode() for part in ({"alg": "none"}, claims))
    return ".".join([*(urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""])


@dataclass(frozen=True)
class Answered:
    """Tokens, with the claims of the ID token that was verified."""

    tokens: Mapping[str, Any]
    claims: Mapping[str, Any]

    @property
    def access_token(self) -> str:
        return str(self.tokens["access_token"])


@dataclass
class RelyingParty:
    """`response_mode` is what it asks for, `method` how it authenticates at the token endpoint."""

    provider: Provider
    person: Person
    response_mode: str = "query"
    client_id: str = "confidential"
    secret: str = SECRET
    method: str = "client_secret_basic"
    scope: str = "openid"
    asked: dict[str, str] = field(default_factory=dict)

    def url(self, **parameters: str | None) -> str:
        """An authorization request; a parameter that is None is left out."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": REDIRECT_URI,
            "scope": self.scope,
            "state": secrets.token_urlsafe(),
            "nonce": secrets.token_urlsafe(),
            **({"response_mode": "form_post"} if self.response_mode == "form_post" else {}),
            **parameters,
        }
        self.asked = {name: value for name, value in asked.items() if value is not None}
        return f"{self.provider.issuer}oidc/authorize?{urlencode(self.asked)}"

    def authorized(self, **parameters: str | None) -> Arrival:
        """Where the person arrives who signs in if asked to; the answer is a success and well-formed."""
        return self.succeeded(self.person.sign_in(self.url(**parameters)))

    def succeeded(self, arrival: Arrival) -> Arrival:
        found = arrival.parameters
        assert "error" not in found, found
        assert found.keys() == {"code", "iss"} | ({"state"} & self.asked.keys())
        assert found.get("state") == self.asked.get("state")
        assert found["iss"] == self.provider.issuer
        assert len(found["code"]) >= 22  # 128 bits of base64
        self._travelled(arrival)
        return arrival

    def failed(self, outcome: Page | Arrival) -> str:
        """The error of a well-formed refusal."""
        assert isinstance(outcome, Arrival), f"{outcome.status}: {outcome.words}"
        found = outcome.parameters
        assert "code" not in found
        assert found.keys() <= _KNOWN_ERROR_MEMBERS
        assert found.get("state") == self.asked.get("state")
        assert found["iss"] == self.provider.issuer
        assert _DESCRIPTION.fullmatch(found.get("error_description", ""))
        self._travelled(outcome)
        return found["error"]

    def _travelled(self, arrival: Arrival) -> None:
        assert "#" not in arrival.url
        if self.response_mode == "form_post":
            assert arrival.posted
            assert "?" not in arrival.url
        else:
            assert not arrival.posted

    def exchange(self, code: str, **parameters: str) -> requests.Response:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT_URI, **parameters}
        return self.post("oidc/token", form)

    def post(self, path: str, form: Mapping[str, str]) -> requests.Response:
        basic = (self.client_id, self.secret) if self.method == "client_secret_basic" else None
        own = {"client_id": self.client_id, "client_secret": self.secret} if basic is None else {}
        return requests.post(
            f"{self.provider.issuer}{path}", data={**form, **own}, auth=basic, timeout=SECONDS
        )

    def signed_in(self, **parameters: str | None) -> Answered:
        """The whole flow, with everything checked that the happy path promises."""
        return self.answered(self.authorized(**parameters))

    def answered(self, arrival: Arrival) -> Answered:
        answer = self.exchange(arrival.parameters["code"])
        assert answer.status_code == requests.codes.ok, answer.text
        assert answer.headers["Content-Type"].startswith("application/json")
        assert "no-store" in answer.headers["Cache-Control"]
        tokens = answer.json()
        assert tokens["token_type"].lower() == "bearer"
        return Answered(tokens, self.verified(tokens))

    def verified(self, tokens: Mapping[str, Any], *, is_refreshed: bool = False) -> Mapping[str, Any]:
        """The claims of an ID token: OpenID Connect Core 1.0 §3.1.3.7."""
        keys = KeySet.import_key_set(
            requests.get(str(self.provider.metadata["jwks_uri"]), timeout=SECONDS).json()
        )
        token = jwt.decode(tokens["id_token"], keys, algorithms=["RS256"])
        claims = token.claims
        assert token.header["kid"]
        assert claims["iss"] == self.provider.issuer
        assert claims["aud"] in (self.client_id, [self.client_id])
        assert claims["exp"] > claims["iat"]
        assert claims["sub"].isascii()
        assert 0 < len(claims["sub"]) <= _UNUSUAL
        assert claims.get("azp", self.client_id) == self.client_id
        assert claims.get("nonce") == (None if is_refreshed else self.asked.get("nonce"))
        digest = hashlib.sha256(tokens["access_token"].encode()).digest()
        assert claims["at_hash"] == urlsafe_b64encode(digest[:16]).decode().rstrip("=")
        return dict(claims)

    def userinfo(self, access_token: str) -> Mapping[str, Any]:
        answer = requests.get(
            f"{self.provider.issuer}oidc/userinfo",
            headers={"Authorization": f"Bearer {access_token}"},
            timeout=SECONDS,
        )
        assert answer.status_code == requests.codes.ok, answer.text
        return dict(answer.json())
