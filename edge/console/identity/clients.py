"""Clients: relying parties and services, with their secrets.

A setting of the contract that is not declared here has an input with the name of the setting as its label.
"""

from collections.abc import Iterator
from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, RecordKind, Source
from edge.console.identity.labels import PERMISSIONS
from gnomon.identity.v1 import client_service_pb2 as pb
from server.platform.languages import marked


def _metadata(*names: str) -> tuple[Source, ...]:
    """Return values that the provider publishes in its metadata."""
    return (Source(rpc="GetMetadata", paths=tuple(f"metadata.{name}" for name in names)),)


# A permission among the scopes is the client's own.
_SCOPES: Final = (Source(rpc="ListScopes", paths=("scopes.name",)), *PERMISSIONS)
_REDIRECTS: Final = marked("One address in each line.")
_SECONDS: Final = marked("In seconds.")
_SIGNING: Final = _metadata("id_token_signing_alg_values_supported")

_SETTINGS: Final = (
    FormField("client.name", marked("Name")),
    FormField("client.enabled", marked("The client is enabled")),
    FormField("client.confidential", marked("The client is confidential")),
    FormField("client.redirect_uris", marked("Redirect URIs"), _REDIRECTS),
    FormField("client.post_logout_redirect_uris", marked("Redirect URIs after sign-out"), _REDIRECTS),
    FormField(
        "client.allowed_origins",
        marked("Origins of its pages"),
        marked("One origin in each line."),
    ),
    FormField("client.flows_enabled", marked("Grant types"), sources=_metadata("grant_types_supported")),
    FormField("client.scopes", marked("Scopes"), sources=_SCOPES),
    FormField("client.default_scopes", marked("Scopes that it always gets"), sources=_SCOPES),
    FormField(
        "client.authorization_details_types",
        marked("Types of authorization details"),
        sources=(Source(rpc="ListAuthorizationDetailsTypes", paths=("types.name",)),),
    ),
    FormField("client.challenges", marked("Code challenge (PKCE)")),
    FormField("client.force_mfa", marked("Users need a second factor")),
    FormField("client.consent", marked("Users are asked for consent")),
    FormField("client.auth_code_lifetime", marked("Lifetime of codes"), _SECONDS),
    FormField("client.access_token_lifetime", marked("Lifetime of access tokens"), _SECONDS),
    FormField(
        "client.access_token_signed_response_alg",
        marked("Algorithm of access tokens"),
        sources=_SIGNING,
        is_required=True,
    ),
    FormField(
        "client.id_token_signed_response_alg",
        marked("Algorithm of ID tokens"),
        sources=_SIGNING,
        is_required=True,
    ),
    FormField(
        "client.token_endpoint_auth_method",
        marked("Client authentication"),
        sources=_metadata("token_endpoint_auth_methods_supported"),
    ),
    FormField(
        "client.token_endpoint_auth_signing_alg",
        marked("Algorithm of client assertions"),
        sources=_metadata("token_endpoint_auth_signing_alg_values_supported"),
    ),
    FormField("client.jwks", marked("Public keys"), marked("A JWK Set."), control=Control.AREA),
    FormField("client.jwks_uri", marked("Address of the public keys")),
    FormField(
        "client.tls_client_auth_subject_dn",
        marked("Subject of its certificates"),
        marked("For tls_client_auth, one of these names: CN=app,O=Example."),
    ),
    FormField("client.tls_client_auth_san_dns", marked("DNS name in its certificates")),
    FormField("client.tls_client_auth_san_uri", marked("URI in its certificates")),
    FormField("client.tls_client_auth_san_ip", marked("IP address in its certificates")),
    FormField("client.tls_client_auth_san_email", marked("E-mail address in its certificates")),
    FormField(
        "client.tls_client_certificate_bound_access_tokens",
        marked("Tokens are bound to a client certificate"),
    ),
    FormField(
        "client.security_profile",
        marked("Security profile"),
        marked("fapi2 is the FAPI 2.0 Security Profile, fapi2_message_signing signs its messages, too."),
    ),
    FormField("client.require_signed_request_object", marked("Authorization requests are signed")),
    FormField(
        "client.request_object_signing_alg",
        marked("Algorithm of request objects"),
        sources=_metadata("request_object_signing_alg_values_supported"),
    ),
    FormField("client.request_uris", marked("Addresses of request objects"), _REDIRECTS),
    FormField(
        "client.require_pushed_authorization_requests",
        marked("Authorization requests are pushed"),
    ),
    FormField(
        "client.backchannel_token_delivery_mode",
        marked("Delivery mode of backchannel authentication"),
        sources=_metadata("backchannel_token_delivery_modes_supported"),
    ),
    FormField(
        "client.backchannel_client_notification_endpoint",
        marked("Address for notifications"),
        marked("For the mode ping."),
    ),
    FormField(
        "client.backchannel_authentication_request_signing_alg",
        marked("Algorithm of backchannel authentication requests"),
        marked("Empty for requests that are not signed."),
        sources=_metadata("backchannel_authentication_request_signing_alg_values_supported"),
    ),
    FormField("client.dpop_bound_access_tokens", marked("Tokens are bound to a DPoP key")),
    FormField(
        "client.userinfo_signed_response_alg",
        marked("Algorithm of user info"),
        marked("Empty for plain JSON."),
        sources=_metadata("userinfo_signing_alg_values_supported"),
    ),
    FormField(
        "client.authorization_signed_response_alg",
        marked("Algorithm of authorization responses"),
        sources=_metadata("authorization_signing_alg_values_supported"),
    ),
    FormField(
        "client.id_token_encrypted_response_alg",
        marked("Key encryption of ID tokens"),
        sources=_metadata("id_token_encryption_alg_values_supported"),
    ),
    FormField(
        "client.id_token_encrypted_response_enc",
        marked("Content encryption of ID tokens"),
        sources=_metadata("id_token_encryption_enc_values_supported"),
    ),
    FormField(
        "client.userinfo_encrypted_response_alg",
        marked("Key encryption of user info"),
        sources=_metadata("userinfo_encryption_alg_values_supported"),
    ),
    FormField(
        "client.userinfo_encrypted_response_enc",
        marked("Content encryption of user info"),
        sources=_metadata("userinfo_encryption_enc_values_supported"),
    ),
    FormField(
        "client.authorization_encrypted_response_alg",
        marked("Key encryption of authorization responses"),
        sources=_metadata("authorization_encryption_alg_values_supported"),
    ),
    FormField(
        "client.authorization_encrypted_response_enc",
        marked("Content encryption of authorization responses"),
        sources=_metadata("authorization_encryption_enc_values_supported"),
    ),
    FormField(
        "client.access_token_typ",
        marked("Type of access tokens"),
        marked("JWT, or at+jwt for the profile of RFC 9068."),
    ),
    FormField(
        "client.introspection_signed_response_alg",
        marked("Algorithm of signed introspection"),
        sources=_SIGNING,
    ),
    FormField(
        "client.subject_type",
        marked("Subjects of users"),
        marked("Pairwise subjects differ between sectors. A change gives all users new subjects."),
    ),
    FormField(
        "client.sector_identifier_uri",
        marked("Address of the sector's document"),
        marked("Lists the redirect URIs of all clients of the sector."),
    ),
    FormField("client.backchannel_logout_uri", marked("Address for back-channel logout")),
    FormField("client.frontchannel_logout_uri", marked("Address for front-channel logout")),
    FormField(
        "client.frontchannel_logout_session_required",
        marked("Front-channel logout must identify the session"),
    ),
    FormField(
        "client.restrict_group_prefix",
        marked("Only for groups that begin with"),
        marked("Empty for all users."),
    ),
    FormField("client.allowed_resources", marked("Resources of its tokens"), _REDIRECTS),
    FormField("client.default_aud", marked("Audiences of all access tokens")),
    FormField(
        "client.may_act",
        marked("Clients that may exchange its tokens"),
        marked("One client id in each line."),
    ),
    FormField(
        "client.assertion_providers",
        marked("Providers whose assertions it may redeem"),
        sources=(Source(rpc="ListProviders", paths=("providers.id",)),),
    ),
    FormField(
        "client.claims",
        marked("Claims of tokens in its own name"),
        marked("A JSON object."),
        control=Control.AREA,
    ),
    FormField("client.claims_at_root", marked("Custom claims are top-level claims")),
    FormField("client.fed_cm", marked("Its pages get ID tokens by FedCM")),
    FormField("client.client_uri", marked("Home page")),
    FormField("client.policy_uri", marked("Privacy policy")),
    FormField("client.tos_uri", marked("Terms of service")),
    FormField("client.contacts", marked("Contacts"), marked("One address in each line.")),
)


def _further(declared: tuple[FormField, ...]) -> Iterator[FormField]:
    """Return the inputs of settings that are not declared."""
    paths = {"client.id", *(field.path for field in declared)}
    for field in pb.Client.DESCRIPTOR.fields:
        path = f"client.{field.name}"
        if path not in paths:
            yield FormField(path, field.name)


CLIENTS: Final = RecordKind(
    name="clients",
    title=marked("Clients"),
    noun="client",
    listing=Listing(
        rpc="ListClients",
        key="id",
        columns=(
            Column("id", marked("Client id"), sort="id"),
            Column("name", marked("Name")),
            Column("enabled", marked("Enabled")),
            Column("confidential", marked("Confidential")),
            Column("flows_enabled", marked("Grant types")),
            Column("redirect_uris", marked("Redirect URIs")),
        ),
        filters=(FormField("search", marked("Id or name")),),
        empty=marked("No client matches."),
    ),
    get="GetClient",
    get_key="id",
    heading="id",
    create=Form(
        name="create",
        rpc="CreateClient",
        button=marked("Create client"),
        done="created",
        secret="client_secret",  # noqa: S106  # name of a field
        fields=(
            FormField("id", marked("Client id")),
            FormField("name", marked("Name")),
            FormField("confidential", marked("The client has a secret")),
            FormField("redirect_uris", marked("Redirect URIs"), _REDIRECTS),
            FormField("post_logout_redirect_uris", marked("Redirect URIs after sign-out"), _REDIRECTS),
        ),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateClient",
            prefix="client",
            base=("client", ""),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            secret="client_secret",  # noqa: S106  # name of a field
            fields=(*_SETTINGS, *_further(_SETTINGS)),
        ),
        Form(
            name="rotate",
            rpc="RotateClientSecret",
            keys=("id",),
            button=marked("New secret"),
            done="rotated",
            warning=marked("The current secret becomes invalid after these hours."),
            secret="client_secret",  # noqa: S106  # name of a field
            fields=(
                FormField("cache_current_hours", marked("Hours for which the current secret stays valid")),
            ),
        ),
        Form(
            name="delete",
            rpc="DeleteClient",
            keys=("id",),
            button=marked("Delete client"),
            done="deleted",
            warning=marked("The client is deleted, and its tokens are revoked. Nobody can undo this."),
            is_gone=True,
        ),
    ),
)
