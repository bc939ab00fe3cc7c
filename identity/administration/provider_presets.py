"""Presets for large upstream providers: one row each.

A row has what the provider documents of itself. `{directory}` and `{host}` in an address are values of the administrator.
Providers that issue no ID tokens, or ID tokens without the nonce of the request, identify users by their userinfo.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from identity.directory.provider import ProviderFields, ProviderType, SignedSecret, UserinfoProfile
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.errors import InvalidArgument, NotFound

_DIRECTORY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?")
_ENDPOINTS = ("issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_endpoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetValues:
    """Values of the administrator beside our secret; an empty `name` or `host` means that of the preset."""

    client_id: str
    name: str = ""
    directory: str = ""
    host: str = ""
    team_id: str = ""
    key_id: str = ""
    onboards: bool = False
    links: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPreset:
    """`needs` are names of values without which no provider can be made; `host` is that of the public installation."""

    id: str
    registration_url: str
    fields: ProviderFields
    needs: tuple[str, ...] = ()
    host: str = ""

    @property
    def name(self) -> str:
        return self.fields.name


def fields_from_preset(preset_id: str, values: PresetValues) -> ProviderFields:
    """Raises NotFound for an unknown preset, InvalidArgument for a value that it lacks or does not take."""
    preset = PRESETS.get(preset_id)
    if preset is None:
        raise NotFound(f"there is no such preset; expected one of {', '.join(PRESETS)}")
    for member in ("directory", "team_id", "key_id"):
        if bool(getattr(values, member)) is not (member in preset.needs):
            found = "one" if member in preset.needs else "none"
            raise InvalidArgument(f"{member}: expected {found} for {preset.name}")
    if values.host and not preset.host:
        raise InvalidArgument(f"host: expected none for {preset.name}")
    if values.directory and _DIRECTORY.fullmatch(values.directory) is None:
        raise InvalidArgument("directory: expected the id of a directory, in lower case")
    host = values.host or preset.host
    if host and _HOST.fullmatch(host) is None:
        raise InvalidArgument("host: expected a host in lower case")
    addresses = {
        member: getattr(preset.fields, member).format(directory=values.directory, host=host)
        for member in _ENDPOINTS
    }
    signed_secret = SignedSecret(team_id=values.team_id, key_id=values.key_id) if values.team_id else None
    return replace(
        preset.fields,
        **addresses,
        name=values.name or preset.name,
        client_id=values.client_id,
        onboards=values.onboards,
        links=values.links,
        signed_secret=signed_secret,
    )


def _fields(name: str, kind: ProviderType, scope: str, **others: Any) -> ProviderFields:
    basis = ProviderFields(
        name=name,
        type=kind,
        is_enabled=True,
        issuer="",
        authorization_endpoint="",
        token_endpoint="",
        client_id="",
        token_endpoint_auth_method=AuthenticationMethod.CLIENT_SECRET_POST,
        oauth_scopes=tuple(scope.split()),
    )
    return replace(basis, **others)


_ROWS = (
    ProviderPreset(
        id="apple",
        registration_url="https://developer.apple.com/account/resources/identifiers/list/serviceId",
        needs=("team_id", "key_id"),
        fields=_fields(
            "Apple",
            ProviderType.OIDC,
            "openid email",
            issuer="https://appleid.apple.com",
            authorization_endpoint="https://appleid.apple.com/auth/authorize",
            token_endpoint="https://appleid.apple.com/auth/token",
            jwks_endpoint="https://appleid.apple.com/auth/keys",
            # Apple posts the response to requests with the scope `email`.
            posts_response=True,
            has_text_booleans=True,
        ),
    ),
    ProviderPreset(
        id="discord",
        registration_url="https://discord.com/developers/applications",
        fields=_fields(
            "Discord",
            ProviderType.CUSTOM,
            "identify email",
            issuer="https://discord.com",
            authorization_endpoint="https://discord.com/oauth2/authorize",
            token_endpoint="https://discord.com/api/oauth2/token",
            userinfo_endpoint="https://discord.com/api/users/@me",
            profile=UserinfoProfile(subject_claim="id", email_claim="email", email_verified_claim="verified"),
        ),
    ),
    ProviderPreset(
        id="facebook",
        registration_url="https://developers.facebook.com/apps/",
        fields=_fields(
            "Facebook",
            ProviderType.CUSTOM,
            "public_profile email",
            issuer="https://www.facebook.com",
            authorization_endpoint="https://www.facebook.com/v21.0/dialog/oauth",
            token_endpoint="https://graph.facebook.com/v21.0/oauth/access_token",
            userinfo_endpoint="https://graph.facebook.com/v21.0/me?fields=id,email,first_name,last_name",
            # Facebook does not say whether it has verified the address.
            profile=UserinfoProfile(
                subject_claim="id",
                email_claim="email",
                given_name_claim="first_name",
                family_name_claim="last_name",
            ),
        ),
    ),
    ProviderPreset(
        id="github",
        registration_url="https://github.com/settings/developers",
        fields=_fields(
            "GitHub",
            ProviderType.GITHUB,
            "read:user user:email",
            issuer="https://github.com/login/oauth",
            authorization_endpoint="https://github.com/login/oauth/authorize",
            token_endpoint="https://github.com/login/oauth/access_token",
            userinfo_endpoint="https://api.github.com/user",
            # The address in the profile is the public one, which need not be verified.
            profile=UserinfoProfile(subject_claim="id", emails_endpoint="https://api.github.com/user/emails"),
        ),
    ),
    ProviderPreset(
        id="gitlab",
        registration_url="https://gitlab.com/-/user_settings/applications",
        host="gitlab.com",
        fields=_fields(
            "GitLab",
            ProviderType.OIDC,
            "openid profile email",
            issuer="https://{host}",
            authorization_endpoint="https://{host}/oauth/authorize",
            token_endpoint="https://{host}/oauth/token",
            userinfo_endpoint="https://{host}/oauth/userinfo",
            jwks_endpoint="https://{host}/oauth/discovery/keys",
        ),
    ),
    ProviderPreset(
        id="google",
        registration_url="https://console.cloud.google.com/auth/clients",
        fields=_fields(
            "Google",
            ProviderType.GOOGLE,
            "openid profile email",
            issuer="https://accounts.google.com",
            authorization_endpoint="https://accounts.google.com/o/oauth2/v2/auth",
            token_endpoint="https://oauth2.googleapis.com/token",
            userinfo_endpoint="https://openidconnect.googleapis.com/v1/userinfo",
            jwks_endpoint="https://www.googleapis.com/oauth2/v3/certs",
        ),
    ),
    ProviderPreset(
        id="linkedin",
        registration_url="https://www.linkedin.com/developers/apps",
        fields=_fields(
            "LinkedIn",
            ProviderType.CUSTOM,
            "openid profile email",
            issuer="https://www.linkedin.com/oauth",
            authorization_endpoint="https://www.linkedin.com/oauth/v2/authorization",
            token_endpoint="https://www.linkedin.com/oauth/v2/accessToken",
            userinfo_endpoint="https://api.linkedin.com/v2/userinfo",
            # Its ID tokens do not repeat the nonce.
            profile=UserinfoProfile(
                subject_claim="sub",
                email_claim="email",
                email_verified_claim="email_verified",
                given_name_claim="given_name",
                family_name_claim="family_name",
            ),
        ),
    ),
    ProviderPreset(
        id="microsoft",
        registration_url="https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade",
        needs=("directory",),
        fields=_fields(
            "Microsoft",
            ProviderType.DIRECTORY,
            "openid profile email",
            issuer="https://login.microsoftonline.com/{directory}/v2.0",
            authorization_endpoint="https://login.microsoftonline.com/{directory}/oauth2/v2.0/authorize",
            token_endpoint="https://login.microsoftonline.com/{directory}/oauth2/v2.0/token",
            userinfo_endpoint="https://graph.microsoft.com/oidc/userinfo",
            jwks_endpoint="https://login.microsoftonline.com/{directory}/discovery/v2.0/keys",
        ),
    ),
    ProviderPreset(
        id="slack",
        registration_url="https://api.slack.com/apps",
        fields=_fields(
            "Slack",
            ProviderType.OIDC,
            "openid profile email",
            issuer="https://slack.com",
            authorization_endpoint="https://slack.com/openid/connect/authorize",
            token_endpoint="https://slack.com/api/openid.connect.token",
            userinfo_endpoint="https://slack.com/api/openid.connect.userInfo",
            jwks_endpoint="https://slack.com/openid/connect/keys",
        ),
    ),
)
PRESETS: Mapping[str, ProviderPreset] = {row.id: row for row in _ROWS}
