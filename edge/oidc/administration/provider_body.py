"""JSON documents of upstream providers, in requests and responses."""

from typing import Annotated

import msgspec

from edge.oidc.access.body import bad_request
from edge.oidc.openapi.schemas import BOOLEAN, STRING, an_object, nullable, titled
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


class _Saml(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    metadata: str | None = None
    metadata_url: str | None = None
    certificates: tuple[str, ...] = ()
    binding: str | None = None
    single_logout_endpoint: str | None = None
    name_id_format: str | None = None
    sign_requests: bool = True
    require_encryption: bool = False
    clock_skew_seconds: Annotated[int, msgspec.Meta(ge=0, le=300)] = 60
    subject_attribute: str | None = None
    email_attribute: str | None = None
    given_name_attribute: str | None = None
    family_name_attribute: str | None = None
    trust_email: bool = False

    def fields(self) -> pb.SamlProviderFields:
        return pb.SamlProviderFields(
            metadata=self.metadata or "",
            metadata_url=self.metadata_url or "",
            certificates=self.certificates,
            binding=self.binding or "",
            single_logout_endpoint=self.single_logout_endpoint or "",
            name_id_format=self.name_id_format or "",
            sign_requests=self.sign_requests,
            require_encryption=self.require_encryption,
            clock_skew_seconds=self.clock_skew_seconds,
            subject_attribute=self.subject_attribute or "",
            email_attribute=self.email_attribute or "",
            given_name_attribute=self.given_name_attribute or "",
            family_name_attribute=self.family_name_attribute or "",
            trust_email=self.trust_email,
        )


class ProviderBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    typ: str
    enabled: bool
    issuer: str = ""
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    userinfo_endpoint: str | None = None
    jwks_endpoint: str | None = None
    client_id: str = ""
    client_secret: str | None = None
    client_secret_basic: bool = False
    client_secret_post: bool = False
    scope: str = ""
    forward_sign_in_hints: bool = True
    workspace_domain: str | None = None
    auto_onboarding: bool = False
    auto_link: bool = False
    mappings: tuple[_Mapping, ...] = ()
    mfa_claim_path: str | None = None
    mfa_claim_value: str | None = None
    saml: _Saml | None = None

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
            saml=None if self.saml is None else self.saml.fields(),
        )

    def _method(self) -> str:
        if self.client_secret_basic and self.client_secret_post:
            raise bad_request("expected one of client_secret_basic and client_secret_post")
        if self.client_secret_basic:
            return _BASIC
        return _POST if self.client_secret_post else _NONE


def provider_members(provider: pb.Provider) -> dict[str, object]:
    fields = provider.fields
    of_saml = {"saml": _saml_members(fields.saml)} if fields.HasField("saml") else {}
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
        **of_saml,
    }


def _saml_members(saml: pb.SamlProviderFields) -> dict[str, object]:
    return {
        "certificates": list(saml.certificates),
        "binding": saml.binding,
        "single_logout_endpoint": saml.single_logout_endpoint or None,
        "name_id_format": saml.name_id_format or None,
        "sign_requests": saml.sign_requests,
        "require_encryption": saml.require_encryption,
        "clock_skew_seconds": saml.clock_skew_seconds,
        "subject_attribute": saml.subject_attribute or None,
        "email_attribute": saml.email_attribute or None,
        "given_name_attribute": saml.given_name_attribute or None,
        "family_name_attribute": saml.family_name_attribute or None,
        "trust_email": saml.trust_email,
    }


METADATA = titled(
    "UpstreamMetadata",
    an_object(
        issuer=STRING,
        authorization_endpoint=STRING,
        token_endpoint=STRING,
        userinfo_endpoint=nullable(STRING),
        jwks_endpoint=STRING,
        client_secret_basic=BOOLEAN,
        client_secret_post=BOOLEAN,
        scope=STRING,
    ),
)


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
