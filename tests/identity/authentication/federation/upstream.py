"""An upstream provider: its registration here, and its signing keys."""

from dataclasses import replace
from typing import Any

import msgspec
from joserfc import jws
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from identity.crypto.signed_jwt import ForeignSignatures
from identity.directory.provider import Provider, ProviderFields, ProviderType
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.call import TenantId

ISSUER = "https://up.example.com"
KEYS_URI = f"{ISSUER}/keys"
CLIENT_ID = "gnomon"

KEYS: dict[str, Key] = {
    "RS256": RSAKey.generate_key(2048, {"kid": "RS256"}),
    "ES256": ECKey.generate_key("P-256", {"kid": "ES256"}),
    "PS256": RSAKey.generate_key(2048, {"kid": "PS256"}),
    "EdDSA": OKPKey.generate_key("Ed25519", {"kid": "EdDSA"}),
}

FIELDS = ProviderFields(
    name="Upstream",
    type=ProviderType.OIDC,
    is_enabled=True,
    issuer=ISSUER,
    authorization_endpoint=f"{ISSUER}/authorize",
    token_endpoint=f"{ISSUER}/token",
    jwks_endpoint=KEYS_URI,
    client_id=CLIENT_ID,
    token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_BASIC,
    oauth_scopes=("openid",),
)


def upstream(provider_id: str = "p1", tenant_id: str = "default", **fields: Any) -> Provider:
    return Provider(tenant_id=TenantId(tenant_id), id=provider_id, fields=replace(FIELDS, **fields))


def published(*keys: Key) -> str:
    return msgspec.json.encode({"keys": [key.as_dict(private=False) for key in keys]}).decode()


def signed(
    claims: dict[str, Any],
    *,
    alg: str = "ES256",
    key: Key | None = None,
    header: dict[str, Any] | None = None,
) -> str:
    """Return a JWT; a claim or a header member that is None is left out."""
    members = {"alg": alg, "kid": alg} | (header or {})
    return jws.serialize_compact(
        {name: value for name, value in members.items() if value is not None},
        msgspec.json.encode({name: value for name, value in claims.items() if value is not None}),
        key or KEYS[alg],
        registry=ForeignSignatures(algorithms=[alg], strict_check_header=False),
    )
