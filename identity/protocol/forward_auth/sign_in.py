"""Sign-in for a service behind a proxy: the provider is its own relying party, OpenID Connect Core 1.0 §3.1.

State, nonce and code verifier are derived from one secret, of which only a keyed hash is stored.
"""

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from identity.authentication.requests.parameters import Parameters
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from identity.protocol.forward_auth.forwarded import Forwarded
from identity.protocol.forward_auth.records import FORWARD_REQUESTS, ForwardRequest
from identity.protocol.forward_auth.redemption import Redemption, SignedIn
from server.platform.clock import Clock
from server.platform.errors import PermissionDenied
from server.platform.records import RecordStore

LIFETIME = timedelta(minutes=10)
"""Time that a user has to sign in."""

_LENGTH = 43
_BROWSER = re.compile(r"[A-Za-z0-9]{43}")
# Claims for the headers of the proxy; the client may have fewer scopes.
_SCOPES = (Scope.OPENID, Scope.PROFILE, Scope.EMAIL, Scope.GROUPS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """Redirect for the browser, and the value of the cookie that it keeps until it returns."""

    location: str
    browser: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    return_to: str
    signed_in: SignedIn


class ForwardSignIn:
    def __init__(
        self,
        records: RecordStore,
        hasher: SecretHasher,
        *,
        redemption: Redemption,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._requests = records.of(FORWARD_REQUESTS)
        self._hasher = hasher
        self._redemption = redemption
        self._clock = clock
        self._randomness = randomness

    async def begin(self, tenant: Tenant, client: Client, forwarded: Forwarded, *, browser: str) -> Begun:
        """Return a redirect. A browser with several pending sign-ins, such as several tabs, keeps one cookie."""
        if _BROWSER.fullmatch(browser) is None:
            browser = self._randomness.alphanumeric(_LENGTH)
        state = self._randomness.alphanumeric(_LENGTH)
        request = await self._requests.insert(
            ForwardRequest(
                tenant_id=tenant.tenant_id,
                id=self._hash(state),
                expires_at=self._clock.now() + LIFETIME,
                client_id=client.client_id,
                browser_hash=self._hash(browser),
                redirect_uri=client.redirect_uris[0],
                return_to=forwarded.address,
            )
        )
        return Begun(location=self._location(tenant, request, state), browser=browser)

    async def finish(
        self, tenant: Tenant, client: Client, answer: Parameters, *, browser: str, is_secure: bool
    ) -> Finished:
        """Handle the authorization response; raises PermissionDenied, InvalidGrant."""
        state = answer.one("state")
        request = await self._requests.get(tenant.tenant_id, self._hash(state))
        if request is None or not self._is_of(request, client, browser=browser, is_secure=is_secure):
            raise PermissionDenied("the sign-in has ended, or did not begin in this browser")
        # RFC 9207 §2.4.
        if answer.one("iss") != tenant.issuer or not answer.one("code"):
            raise PermissionDenied("the sign-in was refused")
        if await self._requests.take(tenant.tenant_id, request.id) is None:
            raise PermissionDenied("the sign-in has ended")
        signed_in = await self._redemption.redeem(
            tenant,
            client,
            answer.one("code"),
            redirect_uri=request.redirect_uri,
            nonce=self._hash(f"nonce {state}"),
            code_verifier=self._verifier(state),
        )
        return Finished(return_to=request.return_to, signed_in=signed_in)

    def _is_of(self, request: ForwardRequest, client: Client, *, browser: str, is_secure: bool) -> bool:
        is_its_browser = hmac.compare_digest(request.browser_hash, self._hash(browser))
        # A cookie set over plain HTTP may come from any page, so it proves nothing for an https service.
        is_its_cookie = request.return_to.startswith("https:") == is_secure
        return is_its_browser and is_its_cookie and request.client_id == client.client_id

    def _location(self, tenant: Tenant, request: ForwardRequest, state: str) -> str:
        digest = hashlib.sha256(self._verifier(state).encode()).digest()
        parameters = {
            "client_id": request.client_id,
            "redirect_uri": request.redirect_uri,
            "response_type": "code",
            "scope": " ".join(_SCOPES),
            "state": state,
            "nonce": self._hash(f"nonce {state}"),
            "code_challenge": base64.urlsafe_b64encode(digest).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{tenant.issuer}oidc/authorize?{urlencode(parameters)}"

    def _verifier(self, state: str) -> str:
        return self._hash(f"verifier {state}")

    def _hash(self, text: str) -> str:
        return self._hasher.hash(text).hex()
