"""Sign-in and sign-out of the console: an ordinary relying party of the tenant's issuer.

Authorization code with S256 and a nonce (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1.2.1). The code is redeemed
and its ID token checked, so that a sign-in that somebody else began opens nothing. Tokens are not kept: the session of
the provider is the session of the console.
"""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

import msgspec
from aiohttp import hdrs, web

from edge.console.addresses import SIGNED_OUT_PAGE, START
from edge.oidc.access.cookies import PREFIXES
from edge.oidc.config import AccessConfig, CookieMode
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from server.platform.errors import InvalidArgument

CLIENT_ID = "gnomon-console"
CALLBACK = "admin/callback"
SIGNED_OUT = "admin/"

_COOKIE = "GnomonConsole"
_SECONDS = 3600
_MAX_TARGET = 1024
_MAX_COOKIE = 2048


class _Begun(msgspec.Struct, frozen=True):
    """A sign-in that this browser began; `target` is the page to show afterwards."""

    state: str
    verifier: str
    nonce: str
    target: str


class _IdToken(msgspec.Struct, frozen=True):
    iss: str
    aud: str | list[str]
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class SignIn:
    """`timeout` is that of a call in seconds."""

    stubs: Stubs
    access: AccessConfig
    has_tls: bool
    timeout: float

    async def begin(self, tenant: str, target: str) -> web.Response:
        """Redirect to the issuer of a tenant, and from there to the page `target`."""
        begun = _Begun(
            state=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            nonce=secrets.token_urlsafe(24),
            target=target if len(target) <= _MAX_TARGET else START,
        )
        issuer = await self.issuer(tenant)
        asked = {
            "response_type": "code",
            "client_id": CLIENT_ID,
            "redirect_uri": f"{issuer}{CALLBACK}",
            "scope": "openid",
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": _base64url(sha256(begun.verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        response = _sent_to(f"{issuer}oidc/authorize?{urlencode(asked)}")
        self._keep(response, _base64url(msgspec.json.encode(begun)), _SECONDS)
        return response

    async def finish(self, request: web.Request, tenant: str) -> web.Response:
        """Redeem the code of a sign-in that this browser began; any other is not used."""
        begun = self._begun(request)
        answer = request.query
        if begun is None or not hmac.compare_digest(begun.state.encode(), answer.get("state", "").encode()):
            return _sent_to(START)
        if "code" in answer:
            await self._redeem(tenant, answer["code"], begun)
        response = _sent_to(begun.target if "code" in answer else SIGNED_OUT_PAGE)
        self._keep(response, "", 0)
        return response

    async def issuer(self, tenant: str) -> str:
        """Return the issuer of a tenant, which ends with a slash; raises NotFound."""
        asked = GetMetadataRequest(tenant_id=tenant)
        return (await self.stubs.discovery.GetMetadata(asked, timeout=self.timeout)).metadata.issuer

    async def _redeem(self, tenant: str, code: str, begun: _Begun) -> None:
        issuer = await self.issuer(tenant)
        issued = await self.stubs.tokens.IssueToken(
            pb.IssueTokenRequest(
                tenant_id=tenant,
                grant_type="authorization_code",
                client_id=CLIENT_ID,
                client_authentication=pb.CLIENT_AUTHENTICATION_NONE,
                code=code,
                redirect_uri=f"{issuer}{CALLBACK}",
                code_verifier=begun.verifier,
            ),
            timeout=self.timeout,
        )
        # OpenID Connect Core §3.1.3.7: the token comes from the issuer itself, so its signature needs no check.
        claims = msgspec.json.decode(_bytes_of(issued.id_token.split(".")[1]), type=_IdToken)
        if claims.iss != issuer or claims.aud not in (CLIENT_ID, [CLIENT_ID]) or claims.nonce != begun.nonce:
            raise InvalidArgument("the ID token belongs to another sign-in")

    def _begun(self, request: web.Request) -> _Begun | None:
        value = request.cookies.get(self._cookie, "")
        if not value or len(value) > _MAX_COOKIE or not value.isascii():
            return None
        try:
            begun = msgspec.json.decode(_bytes_of(value), type=_Begun)
        except (NotBase64, msgspec.DecodeError):
            return None
        return begun if begun.target.startswith(START) else None

    def _keep(self, response: web.Response, value: str, max_age: int) -> None:
        mode = self._mode
        response.set_cookie(
            self._cookie,
            value,
            max_age=max_age,
            path="/",
            secure=mode is not CookieMode.DANGER_INSECURE,
            httponly=True,
            samesite="Lax",
        )

    @property
    def _cookie(self) -> str:
        return f"{PREFIXES[self._mode]}{_COOKIE}"

    @property
    def _mode(self) -> CookieMode:
        return self.access.cookie_mode_of(has_tls=self.has_tls)


def _sent_to(location: str) -> web.Response:
    return web.Response(status=303, headers={hdrs.LOCATION: location})


def _base64url(octets: bytes) -> str:
    return urlsafe_b64encode(octets).decode().rstrip("=")


def _bytes_of(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
