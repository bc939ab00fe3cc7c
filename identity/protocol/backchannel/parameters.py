"""Parameters of a backchannel authentication request, validated: CIBA Core 1.0 §7.1, §7.2."""

import re
from dataclasses import dataclass, field
from datetime import timedelta

from identity.authentication.requests.parameters import Parameters
from identity.directory.authorization_details.details import Details
from identity.directory.client import Client
from identity.directory.oauth_scopes import extent_of, granted_scopes, parse
from identity.foundation.errors import InvalidBindingMessage, InvalidRequest, InvalidScope
from identity.foundation.visible_text import is_visible
from identity.foundation.vocabulary import Scope, TokenDeliveryMode
from identity.protocol.backchannel.config import BackchannelConfig

_MAX_BINDING_MESSAGE = 100
_MAX_SCOPE = 512
_MOST_ACR_VALUES = 10
_MAX_NOTIFICATION_TOKEN = 1024
# RFC 6750 §2.1.
_BEARER = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_SECONDS = re.compile(r"[1-9][0-9]{0,8}")
_SHORTEST = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    oauth_scopes: tuple[str, ...]
    binding_message: str
    acr_values: tuple[str, ...]
    lifetime: timedelta
    notification_token: str = field(repr=False)
    authorization_details: Details = ()


def asked_of(parameters: Parameters, client: Client, config: BackchannelConfig) -> Asked:
    """Raises InvalidRequest, InvalidScope, InvalidBindingMessage."""
    if parameters.are_malformed:
        # A signed request is read from JSON, whose texts may contain NUL.
        raise InvalidRequest("a parameter is repeated or contains NUL")
    binding_message = _binding_message(parameters.one("binding_message"))
    if client.follows_fapi and not binding_message:
        # FAPI-CIBA §5.2.2.
        raise InvalidRequest("binding_message is missing")
    return Asked(
        oauth_scopes=_oauth_scopes(parameters.one("scope"), client),
        binding_message=binding_message,
        acr_values=tuple(parameters.one("acr_values").split()[:_MOST_ACR_VALUES]),
        lifetime=_lifetime(parameters.one("requested_expiry"), config),
        notification_token=_notification_token(client, parameters.one("client_notification_token")),
    )


def _oauth_scopes(text: str, client: Client) -> tuple[str, ...]:
    asked = parse(text)
    if len(text) > _MAX_SCOPE or Scope.OPENID not in asked:
        raise InvalidScope("expected a scope with openid, of 512 characters at most")
    return granted_scopes(asked, extent_of(client, without_defaults=client.oauth_scopes))


def _binding_message(text: str) -> str:
    """Accept text that fits on a small screen: the message must be readable on both devices."""
    if len(text) > _MAX_BINDING_MESSAGE or not is_visible(text):
        raise InvalidBindingMessage(
            f"expected at most {_MAX_BINDING_MESSAGE} visible characters without bidirectional controls"
        )
    return text


def _notification_token(client: Client, text: str) -> str:
    """Return the token of a client in ping mode; clients in poll mode need none."""
    if client.backchannel_token_delivery_mode is not TokenDeliveryMode.PING:
        return ""
    if len(text) > _MAX_NOTIFICATION_TOKEN or _BEARER.fullmatch(text) is None:
        raise InvalidRequest("client_notification_token: expected a bearer token of at most 1024 characters")
    return text


def _lifetime(text: str, config: BackchannelConfig) -> timedelta:
    if not text:
        return timedelta(seconds=config.lifetime_secs)
    if _SECONDS.fullmatch(text) is None:
        raise InvalidRequest("requested_expiry: expected a positive number of seconds")
    asked = timedelta(seconds=int(text))
    return min(max(asked, _SHORTEST), timedelta(seconds=config.longest_lifetime_secs))
