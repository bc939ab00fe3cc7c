"""A user who is signed in at a browser and uses self-service."""

from dataclasses import dataclass
from typing import Any

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient

from identity.directory.own_clients import PAGES_CLIENT_ID
from tests.people.proof_of_work import solved

PASSWORD = "correct horse battery staple"

_BASE = "/auth/v1"
# RFC 7636, appendix B.
_CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


@dataclass
class Somebody:
    """`http` keeps the cookies."""

    http: TestClient[web.Request, web.Application]
    issuer: str
    email: str
    user_id: str = ""
    csrf_token: str = ""

    async def begin(self) -> dict[str, Any]:
        """Begin a session, and return the parameters of its authorization request."""
        begun = await self.http.post(f"{_BASE}/oidc/session")
        if begun.status == 201:
            self.csrf_token = (await begun.json())["csrf_token"]
        return {
            "client_id": PAGES_CLIENT_ID,
            "redirect_uri": f"{self.issuer}device",
            "scopes": ["openid"],
            "nonce": "n",
            "code_challenge": _CHALLENGE,
            "code_challenge_method": "S256",
        }

    async def sign_in(
        self, password: str | None = PASSWORD, *, asked: dict[str, Any] | None = None
    ) -> ClientResponse:
        """Sign in for the provider's own pages, unless another request is given."""
        asked = await self.begin() if asked is None else asked
        challenge = await (await self.http.post(f"{_BASE}/pow")).text()
        answer = await self.send(
            "POST",
            "/oidc/authorize",
            **asked,
            email=self.email,
            password=password,
            pow=solved(challenge),
        )
        self.csrf_token = answer.headers.get("x-csrf-token", self.csrf_token)
        return answer

    async def send(self, method: str, path: str, **members: Any) -> ClientResponse:
        headers = {"x-csrf-token": self.csrf_token}
        body = {"json": members} if members else {}
        return await self.http.request(
            method, f"{_BASE}{path}", headers=headers, allow_redirects=False, **body
        )

    async def own(self, method: str, path: str, **members: Any) -> ClientResponse:
        """Send a request to a path below the user's own address."""
        return await self.send(method, f"/users/{self.user_id}{path}", **members)

    async def proof(self, password: str = PASSWORD) -> str:
        """Return a modification token."""
        answer = await self.own("POST", "/mfa_token", password=password)
        return str((await answer.json())["id"])

    async def is_signed_in(self) -> bool:
        return (await self.http.get(f"{_BASE}/oidc/sessioninfo")).status == 200
