"""Validation of the fields of a SAML provider."""

from identity.authentication.saml.certificates import MOST, certificates_of
from identity.authentication.saml.names import NAME_ID_FORMATS, TRANSIENT
from identity.delivery.http.registered_uris import expect_safe_uri
from identity.directory.provider import ProviderFields, ProviderType, SamlFields
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.errors import InvalidArgument

# SAML 2.0 Core §8.3.6.
_MAX_ENTITY_ID = 1024
_OF_OIDC = (
    "token_endpoint",
    "userinfo_endpoint",
    "jwks_endpoint",
    "oauth_scopes",
    "workspace_domain",
    "profile",
    "signed_secret",
)


def expect_saml_provider(fields: ProviderFields) -> None:
    """Raise InvalidArgument."""
    saml = fields.saml
    if saml is None:
        raise InvalidArgument("saml: expected the settings of a SAML provider")
    for member in ("issuer", "client_id"):
        _expect_entity_id(member, getattr(fields, member))
    if not fields.issuer:
        raise InvalidArgument("issuer: expected the entity id of the provider")
    if not fields.authorization_endpoint:
        raise InvalidArgument("authorization_endpoint: expected an https address")
    expect_safe_uri("authorization_endpoint", fields.authorization_endpoint)
    expect_safe_uri("saml: single_logout_endpoint", saml.single_logout_endpoint)
    has_secret = fields.token_endpoint_auth_method is not AuthenticationMethod.NONE
    if has_secret or any(getattr(fields, member) for member in _OF_OIDC):
        raise InvalidArgument("expected no settings of an OpenID provider for a SAML provider")
    _expect_settings(saml)


def expect_no_saml(fields: ProviderFields) -> None:
    """Raise InvalidArgument when a provider of another type has settings of SAML."""
    if fields.saml is not None:
        raise InvalidArgument(f"saml: expected only with typ {ProviderType.SAML}")


def _expect_settings(saml: SamlFields) -> None:
    if not 0 < len(saml.certificates) <= MOST:
        raise InvalidArgument(f"saml: expected 1 to {MOST} certificates")
    certificates_of(saml.certificates)
    if saml.name_id_format not in {"", *NAME_ID_FORMATS}:
        raise InvalidArgument(f"saml: name_id_format: expected one of {', '.join(NAME_ID_FORMATS)}")
    if saml.name_id_format == TRANSIENT and not saml.subject_attribute:
        raise InvalidArgument(
            "saml: expected a subject_attribute, because a transient NameID does not identify a user"
        )


def _expect_entity_id(member: str, text: str) -> None:
    if len(text) > _MAX_ENTITY_ID or not text.isprintable() or " " in text:
        raise InvalidArgument(f"{member}: expected an entity id")
