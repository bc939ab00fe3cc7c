"""JSON documents of upstream providers, in requests and responses."""

import msgspec

from edge.oidc.access.body import bad_request
from gnomon.identity.v1 import provider_service_pb2 as pb

_BASIC, _POST, _NONE = "client_secret_basic", "client_secret_post", "none"


class Lookup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    issuer: str | None = None
    metadata_url: str | None = None


class _Mapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    claim: str
    value: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class ProviderBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    typ: str
    enabled: bool
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str | None = None
    jwks_endpoint: str | None = None
    client_id: str
    client_secret: str | None = None
    client_secret_basic: bool = False
    client_secret_post: bool = False
    scope: str
    forward_sign_in_hints: bool = True
    workspace_domain: str | None = None
    auto_onboarding: bool = False
    auto_link: bool = False
    mappings: tuple[_Mapping, ...] = ()
    mfa_claim_path: str | None = None
    mfa_claim_value: str | None = None

    def fields(self) -> pb.ProviderFields:
        """Raises Refused when the document has two client authentication methods."""
        return pb.ProviderFields(
            name=self.name,
            type=self.typ,
            enabled=self.enabled,
            issuer=self.issuer,
            authorization_endpoint=self.authorization_endpoint,
            token_endpoint=self.token_endpoint,
            userinfo_endpoint=self.userinfo_endpoint or "",
            jwks_endpoint=self.jwks_endpoint or "",
            client_id=self.client_id,
            token_endpoint_auth_method=self._method(),
            scope=self.scope,
            forward_sign_in_hints=self.forward_sign_in_hints,
            workspace_domain=self.workspace_domain or "",
            auto_onboarding=self.auto_onboarding,
            auto_link=self.auto_link,
            mappings=[
                pb.ProviderClaimMapping(
                    claim=mapping.claim, value=mapping.value, roles=mapping.roles, groups=mapping.groups
                )
                for mapping in self.mappings
            ],
            mfa_claim_path=self.mfa_claim_path or "",
            mfa_claim_value=self.mfa_claim_value or "",
        )

    def _method(self) -> str:
        if self.client_secret_basic and self.client_secret_post:
            raise bad_request("expected one of client_secret_basic and client_secret_post")
        if self.client_secret_basic:
            return _BASIC
        return _POST if self.client_secret_post else _NONE


def provider_members(provider: pb.Provider) -> dict[str, object]:
    fields = provider.fields
    return {
        "id": provider.id,
        "name": fields.name,
        "typ": fields.type,
        "enabled": fields.enabled,
        "issuer": fields.issuer,
        "authorization_endpoint": fields.authorization_endpoint,
        "token_endpoint": fields.token_endpoint,
        "userinfo_endpoint": fields.userinfo_endpoint or None,
        "jwks_endpoint": fields.jwks_endpoint or None,
        "client_id": fields.client_id,
        "client_secret_basic": fields.token_endpoint_auth_method == _BASIC,
        "client_secret_post": fields.token_endpoint_auth_method == _POST,
        "scope": fields.scope,
        "forward_sign_in_hints": fields.forward_sign_in_hints,
        "workspace_domain": fields.workspace_domain or None,
        "auto_onboarding": fields.auto_onboarding,
        "auto_link": fields.auto_link,
        "mappings": [
            {
                "claim": mapping.claim,
                "value": mapping.value,
                "roles": list(mapping.roles),
                "groups": list(mapping.groups),
            }
            for mapping in fields.mappings
        ],
        "mfa_claim_path": fields.mfa_claim_path or None,
        "mfa_claim_value": fields.mfa_claim_value or None,
    }


def metadata_members(found: pb.LookUpProviderResponse) -> dict[str, object]:
    """Return the provider that the metadata describes, with the best client authentication method."""
    best = next(iter(found.token_endpoint_auth_methods), _NONE)
    return {
        "issuer": found.issuer,
        "authorization_endpoint": found.authorization_endpoint,
        "token_endpoint": found.token_endpoint,
        "userinfo_endpoint": found.userinfo_endpoint or None,
        "jwks_endpoint": found.jwks_endpoint,
        "client_secret_basic": best == _BASIC,
        "client_secret_post": best == _POST,
        "scope": found.scope,
    }
