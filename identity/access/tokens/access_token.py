"""Access tokens: signed, short-lived, verifiable with the published keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec

from identity.access.tokens.actor import Actor
from identity.access.tokens.claims import PERSON_CLAIMS, ClaimRule, Document, person_claims
from identity.access.tokens.custom_claims import Claims
from identity.access.tokens.signatures import Signatures
from identity.access.tokens.token_ids import jti_of
from identity.access.tokens.token_set import TokenSet
from identity.crypto.jose.signing_key import SigningKey
from identity.directory.authorization_details.details import Details
from identity.directory.client import Client
from identity.directory.user import User
from identity.foundation.errors import InvalidRequest
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant, Tenants
from identity.foundation.vocabulary import AccessTokenTyp, TokenType
from server.platform.clock import Clock

_JTI_LENGTH = 12

# The maximum length that all resource servers here accept.
MAX_TOKEN_LENGTH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Grantee:
    """Subject, client and bounds of the tokens to issue.

    Without a `user` the client acts in its own name, and there is no `token_set`. `dpop_jkt` is the key that the tokens
    are bound to, empty for none, and `certificate` the thumbprint of a certificate likewise. `custom` are the custom
    claims. `is_narrowed` is true when a client asked for certain scopes of tokens in its own name. `actor` acts for the
    subject. The token expires at `ends_at` at the latest, in Unix seconds. `sid` is the id of the session for the
    client, empty without one.
    """

    tenant: Tenant
    client: Client
    subject: str
    oauth_scopes: tuple[str, ...]
    audiences: tuple[str, ...] = ()
    user: User | None = None
    token_set: TokenSet | None = None
    dpop_jkt: str = ""
    certificate: str = ""
    custom: Mapping[Document, Claims] = field(default_factory=dict)
    is_narrowed: bool = False
    actor: Actor | None = None
    ends_at: int | None = None
    sid: str = ""
    authorization_details: Details = ()

    @property
    def token_type(self) -> TokenType:
        return TokenType.DPOP if self.dpop_jkt else TokenType.BEARER


@dataclass(frozen=True, slots=True)
class AccessToken:
    token: str = field(repr=False)
    lifetime: timedelta


class AccessTokens:
    def __init__(
        self,
        tenants: Tenants,
        clock: Clock,
        randomness: Randomness,
        *,
        signatures: Signatures,
        rules: tuple[ClaimRule, ...] = PERSON_CLAIMS,
    ) -> None:
        self._tenants = tenants
        self._clock = clock
        self._randomness = randomness
        self._signatures = signatures
        self._rules = rules

    async def issue(self, grantee: Grantee, signing_key: SigningKey) -> AccessToken:
        """Sign a token; raises InvalidRequest when its claims make it too long."""
        lifetime = self._lifetime(grantee)
        typ = grantee.client.access_token_typ.value
        claims = msgspec.json.encode(self._claims(grantee, lifetime))
        token = await self._signatures.sign(signing_key, claims, typ=typ)
        return AccessToken(of_bounded_length(token), lifetime)

    def _claims(self, grantee: Grantee, lifetime: timedelta) -> dict[str, object]:
        """RFC 7519 §4.1, RFC 8693 §4.2, RFC 9449 §6; `azp` is the client, `tid` the tenant of the provider."""
        issued_at = int(self._clock.now().timestamp())
        registered: dict[str, object] = {
            "iss": grantee.tenant.issuer,
            "sub": grantee.subject,
            "aud": _audience(grantee),
            "azp": grantee.client.client_id,
            "iat": issued_at,
            "nbf": issued_at,
            "exp": issued_at + int(lifetime.total_seconds()),
            "jti": jti_of(grantee.token_set, self._randomness.alphanumeric(_JTI_LENGTH)),
            "typ": grantee.token_type.value,
            **(_profile_claims(grantee) if _is_profiled(grantee) else {}),
        }
        not_before = grantee.tenant.not_before
        if not_before is not None and issued_at == int(not_before.timestamp()):
            # The whole second began before the tenant's `not_before`, although the token did not.
            registered["iat"] = issued_at + 1
        optional = {
            "scope": " ".join(grantee.oauth_scopes),
            # Absent for the default tenant, whose users and clients may act in several tenants: the directory decides.
            "tid": "" if grantee.tenant == self._tenants.default else grantee.tenant.tenant_id,
            "narrowed": grantee.is_narrowed,
            "act": grantee.actor,
            # RFC 9396 §9.1.
            "authorization_details": [msgspec.Raw(each.encode()) for each in grantee.authorization_details],
            **_set_claims(grantee),
        }
        return {
            **grantee.custom.get(Document.ACCESS_TOKEN, {}),
            **self._person(grantee),
            **registered,
            **{name: value for name, value in optional.items() if value},
        }

    def _person(self, grantee: Grantee) -> dict[str, object]:
        if grantee.user is None:
            return {}
        return person_claims(
            grantee.user,
            Document.ACCESS_TOKEN,
            issuer=grantee.tenant.issuer,
            subject=grantee.subject,
            oauth_scopes=grantee.oauth_scopes,
            rules=self._rules,
        )

    def _lifetime(self, grantee: Grantee) -> timedelta:
        """Return the lifetime, at most until the token set ends, or until an earlier given end."""
        lifetime = grantee.client.access_token_lifetime
        if grantee.ends_at is not None:
            lifetime = min(lifetime, timedelta(seconds=grantee.ends_at - int(self._clock.now().timestamp())))
        if grantee.token_set is None or grantee.token_set.expires_at is None:
            return lifetime
        return min(lifetime, grantee.token_set.expires_at - self._clock.now())


def of_bounded_length(token: str) -> str:
    """Return the token; raises InvalidRequest when it is longer than MAX_TOKEN_LENGTH."""
    if len(token) > MAX_TOKEN_LENGTH:
        raise InvalidRequest(f"the token would be longer than {MAX_TOKEN_LENGTH} characters")
    return token


def confirmation_of(jkt: str, certificate: str) -> dict[str, str]:
    """Return the claim `cnf` of a token with these bindings, empty without any: RFC 9449 §6.1, RFC 8705 §3.1."""
    return {name: value for name, value in (("jkt", jkt), ("x5t#S256", certificate)) if value}


def _set_claims(grantee: Grantee) -> dict[str, object]:
    confirmation = confirmation_of(grantee.dpop_jkt, grantee.certificate)
    if grantee.token_set is None:
        return {"cnf": confirmation}
    return {
        "cnf": confirmation,
        "sid": grantee.sid,
        "did": grantee.token_set.device_id,
    }


def _is_profiled(grantee: Grantee) -> bool:
    return grantee.client.access_token_typ is AccessTokenTyp.RFC_9068


def _profile_claims(grantee: Grantee) -> dict[str, object]:
    """Claims that RFC 9068 §2.2 adds: the client, and how its user signed in."""
    claims: dict[str, object] = {"client_id": grantee.client.client_id}
    if grantee.token_set is not None:
        authentication = grantee.token_set.authentication
        claims["auth_time"] = int(authentication.at.timestamp())
        sign_in = {"amr": authentication.amr, "acr": authentication.acr}
        claims.update((name, value) for name, value in sign_in.items() if value)
    return claims


def _audience(grantee: Grantee) -> str | tuple[str, ...]:
    client = grantee.client
    audience = tuple(dict.fromkeys(filter(None, (client.client_id, *client.default_aud, *grantee.audiences))))
    return audience if len(audience) > 1 else audience[0]
