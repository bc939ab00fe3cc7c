"""Clients: relying parties and services, with their secrets."""

from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, RecordKind, Source
from edge.console.identity.labels import PERMISSIONS


def _metadata(*names: str) -> tuple[Source, ...]:
    """Return values that the provider publishes in its metadata."""
    return (Source(rpc="GetMetadata", paths=tuple(f"metadata.{name}" for name in names)),)


# A permission among the scopes is the client's own.
_SCOPES: Final = (Source(rpc="ListScopes", paths=("scopes.name",)), *PERMISSIONS)
_REDIRECTS: Final = "One address in each line."
_SECONDS: Final = "In seconds."
_SIGNING: Final = _metadata("id_token_signing_alg_values_supported")

CLIENTS: Final = RecordKind(
    name="clients",
    title="Clients",
    noun="client",
    listing=Listing(
        rpc="ListClients",
        key="id",
        columns=(
            Column("id", "Client id"),
            Column("name", "Name"),
            Column("enabled", "Enabled"),
            Column("confidential", "Confidential"),
            Column("flows_enabled", "Grant types"),
            Column("redirect_uris", "Redirect URIs"),
        ),
        empty="No client matches.",
    ),
    get="GetClient",
    get_key="id",
    heading="id",
    create=Form(
        name="create",
        rpc="CreateClient",
        button="Create client",
        done="created",
        secret="client_secret",  # noqa: S106  # name of a field
        fields=(
            FormField("id", "Client id"),
            FormField("name", "Name"),
            FormField("confidential", "The client has a secret"),
            FormField("redirect_uris", "Redirect URIs", _REDIRECTS),
            FormField("post_logout_redirect_uris", "Redirect URIs after sign-out", _REDIRECTS),
        ),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateClient",
            prefix="client",
            base=("client", ""),
            button="Save",
            done="saved",
            heading="Settings",
            secret="client_secret",  # noqa: S106  # name of a field
            fields=(
                FormField("client.name", "Name"),
                FormField("client.enabled", "The client is enabled"),
                FormField("client.confidential", "The client is confidential"),
                FormField("client.redirect_uris", "Redirect URIs", _REDIRECTS),
                FormField("client.post_logout_redirect_uris", "Redirect URIs after sign-out", _REDIRECTS),
                FormField("client.allowed_origins", "Origins of its pages", "One origin in each line."),
                FormField("client.flows_enabled", "Grant types", sources=_metadata("grant_types_supported")),
                FormField("client.scopes", "Scopes", sources=_SCOPES),
                FormField("client.default_scopes", "Scopes that it always gets", sources=_SCOPES),
                FormField("client.challenges", "Code challenge (PKCE)"),
                FormField("client.force_mfa", "Users need a second factor"),
                FormField("client.consent", "Users are asked for consent"),
                FormField("client.auth_code_lifetime", "Lifetime of codes", _SECONDS),
                FormField("client.access_token_lifetime", "Lifetime of access tokens", _SECONDS),
                FormField(
                    "client.access_token_signed_response_alg",
                    "Algorithm of access tokens",
                    sources=_SIGNING,
                    is_required=True,
                ),
                FormField(
                    "client.id_token_signed_response_alg",
                    "Algorithm of ID tokens",
                    sources=_SIGNING,
                    is_required=True,
                ),
                FormField(
                    "client.token_endpoint_auth_method",
                    "Client authentication",
                    sources=_metadata("token_endpoint_auth_methods_supported"),
                ),
                FormField(
                    "client.token_endpoint_auth_signing_alg",
                    "Algorithm of client assertions",
                    sources=_metadata("token_endpoint_auth_signing_alg_values_supported"),
                ),
                FormField("client.jwks", "Public keys", "A JWK Set.", control=Control.AREA),
                FormField("client.jwks_uri", "Address of the public keys"),
                FormField(
                    "client.tls_client_auth_subject_dn",
                    "Subject of its certificates",
                    "For tls_client_auth, one of these names: CN=app,O=Example.",
                ),
                FormField("client.tls_client_auth_san_dns", "DNS name in its certificates"),
                FormField("client.tls_client_auth_san_uri", "URI in its certificates"),
                FormField("client.tls_client_auth_san_ip", "IP address in its certificates"),
                FormField("client.tls_client_auth_san_email", "E-mail address in its certificates"),
                FormField(
                    "client.tls_client_certificate_bound_access_tokens",
                    "Tokens are bound to a client certificate",
                ),
                FormField(
                    "client.security_profile",
                    "Security profile",
                    "fapi2 is the FAPI 2.0 Security Profile.",
                ),
                FormField("client.require_signed_request_object", "Authorization requests are signed"),
                FormField(
                    "client.request_object_signing_alg",
                    "Algorithm of request objects",
                    sources=_metadata("request_object_signing_alg_values_supported"),
                ),
                FormField("client.request_uris", "Addresses of request objects", _REDIRECTS),
                FormField(
                    "client.require_pushed_authorization_requests", "Authorization requests are pushed"
                ),
                FormField("client.dpop_bound_access_tokens", "Tokens are bound to a DPoP key"),
                FormField(
                    "client.userinfo_signed_response_alg",
                    "Algorithm of user info",
                    "Empty for plain JSON.",
                    sources=_metadata("userinfo_signing_alg_values_supported"),
                ),
                FormField(
                    "client.access_token_typ",
                    "Type of access tokens",
                    "JWT, or at+jwt for the profile of RFC 9068.",
                ),
                FormField(
                    "client.introspection_signed_response_alg",
                    "Algorithm of signed introspection",
                    sources=_SIGNING,
                ),
                FormField(
                    "client.subject_type",
                    "Subjects of users",
                    "Pairwise subjects differ between sectors. A change gives all users new subjects.",
                ),
                FormField(
                    "client.sector_identifier_uri",
                    "Address of the sector's document",
                    "Lists the redirect URIs of all clients of the sector.",
                ),
                FormField("client.backchannel_logout_uri", "Address for back-channel logout"),
                FormField("client.frontchannel_logout_uri", "Address for front-channel logout"),
                FormField(
                    "client.frontchannel_logout_session_required",
                    "Front-channel logout needs to name the session",
                ),
                FormField(
                    "client.restrict_group_prefix",
                    "Only for groups that begin with",
                    "Empty for all users.",
                ),
                FormField("client.allowed_resources", "Resources of its tokens", _REDIRECTS),
                FormField("client.default_aud", "Audiences of all access tokens"),
                FormField(
                    "client.may_act", "Clients that may exchange its tokens", "One client id in each line."
                ),
                FormField(
                    "client.assertion_providers",
                    "Providers whose assertions it may redeem",
                    sources=(Source(rpc="ListProviders", paths=("providers.id",)),),
                ),
                FormField(
                    "client.claims",
                    "Claims of tokens in its own name",
                    "A JSON object.",
                    control=Control.AREA,
                ),
                FormField("client.claims_at_root", "Custom claims stand beside the standard claims"),
                FormField("client.fed_cm", "Its pages get ID tokens by FedCM"),
                FormField("client.client_uri", "Home page"),
                FormField("client.policy_uri", "Privacy policy"),
                FormField("client.tos_uri", "Terms of service"),
                FormField("client.contacts", "Contacts", "One address in each line."),
            ),
        ),
        Form(
            name="rotate",
            rpc="RotateClientSecret",
            keys=("id",),
            button="New secret",
            done="rotated",
            warning="The present secret ends after these hours.",
            secret="client_secret",  # noqa: S106  # name of a field
            fields=(FormField("cache_current_hours", "Hours that the present secret stays good"),),
        ),
        Form(
            name="delete",
            rpc="DeleteClient",
            keys=("id",),
            button="Delete client",
            done="deleted",
            warning="The client goes, and its tokens end. It does not come back.",
            is_gone=True,
        ),
    ),
)
