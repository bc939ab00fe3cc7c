"""The account page of a signed-in user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import web

from edge.language_of_request import kept_language
from edge.oidc.access.support_sessions import STOP, Acting
from edge.oidc.pages.renderer import Pages
from edge.oidc.pages.words import words_of
from gnomon.identity.v1.consent_service_pb2 import Consent
from gnomon.identity.v1.device_list_service_pb2 import Device
from gnomon.identity.v1.impersonation_service_pb2 import GetSupportAccessResponse
from gnomon.identity.v1.one_time_code_service_pb2 import (
    CodeGenerator,
    GetEmailCodesResponse,
    GetRecoveryCodesResponse,
)
from gnomon.identity.v1.passkey_service_pb2 import Passkey
from gnomon.identity.v1.password_policy_service_pb2 import PasswordPolicy
from gnomon.identity.v1.provider_link_service_pb2 import ListProviderLinksResponse
from gnomon.identity.v1.session_administration_service_pb2 import ListedSession
from gnomon.identity.v1.terms_of_use_service_pb2 import TermsAcceptance
from gnomon.identity.v1.user_pb2 import User
from server.platform.languages import Language, languages

# Longer lists are cut, and the page tells how many entries it leaves out.
MOST_ENTRIES = 50
# An hour, a day and a week.
_HOURS_OF_SUPPORT = (1, 24, 168)
_WITH_PASSWORD = frozenset({"password", "federated_password"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFacts:
    """Contents of the page; `path` is the path of the tenant's issuer, without a final slash.

    `impersonator` is the address of the support person who acts as the user, empty in the user's own sessions.
    """

    path: str
    csrf_token: str
    user: User
    password_policy: PasswordPolicy
    passkeys: Sequence[Passkey]
    generators: Sequence[CodeGenerator]
    recovery_codes: GetRecoveryCodesResponse
    email_codes: GetEmailCodesResponse
    sessions: Sequence[ListedSession]
    devices: Sequence[Device]
    consents: Sequence[Consent]
    accepted_terms: Sequence[TermsAcceptance]
    support: GetSupportAccessResponse
    impersonator: str
    provider_links: ListProviderLinksResponse
    can_delete: bool


def account_page(pages: Pages, facts: AccountFacts) -> web.Response:
    user = facts.user
    language = kept_language(of_user=user.language)
    state = pages.state(facts.path, "/account") | {
        "csrf_token": facts.csrf_token,
        "user_id": user.id,
        "email": user.email,
        "entry": f"{facts.path}/",
    }
    return pages.rendered(
        "account.html",
        {
            "state": state,
            "path": facts.path,
            "user": user,
            "values": user.user_values,
            "picture": f"{state['users']}/{user.id}/picture/{user.picture_id}" if user.picture_id else "",
            "has_password": user.account_type in _WITH_PASSWORD,
            # Users who have only a provider get their address from there.
            "is_federated": user.account_type == "federated",
            "policy": facts.password_policy,
            "passkeys": facts.passkeys,
            "generators": facts.generators,
            "recovery_codes": facts.recovery_codes,
            "email_codes": facts.email_codes,
            "sessions": _cut(sorted(facts.sessions, key=_by_use, reverse=True)),
            "devices": _cut(sorted(facts.devices, key=lambda device: device.created, reverse=True)),
            "applications": _cut(_application(consent, language) for consent in facts.consents),
            "accepted_terms": _cut(facts.accepted_terms),
            "support": facts.support,
            "hours_of_support": _HOURS_OF_SUPPORT,
            "acting": _acting(facts),
            "linked": facts.provider_links.linked,
            "linkable": facts.provider_links.available,
            "can_delete": facts.can_delete,
            "languages": _languages(user.language),
            "moment": partial(_moment, language),
        },
        form_origins=facts.provider_links.form_origins,
        language=language,
    )


def _acting(facts: AccountFacts) -> Acting | None:
    return Acting(facts.user.email, facts.csrf_token, f"{facts.path}{STOP}") if facts.impersonator else None


@dataclass(frozen=True, slots=True)
class _Cut:
    shown: Sequence[Any]
    number_left_out: int


def _cut(entries: Iterable[Any]) -> _Cut:
    found = tuple(entries)
    return _Cut(found[:MOST_ENTRIES], max(len(found) - MOST_ENTRIES, 0))


def _by_use(session: ListedSession) -> tuple[bool, int]:
    return session.is_current, session.last_seen


def _application(consent: Consent, language: Language) -> Mapping[str, object]:
    return {
        "client_id": consent.client_id,
        "name": consent.client_name or consent.client_id,
        "rights": [words_of(scope, language) for scope in consent.scopes],
        "details": consent.authorization_details,
        "granted_at": consent.granted_at,
    }


def _languages(own: str) -> Mapping[str, str]:
    """Return the languages of letters by their tags, and the user's own even if it is none of them."""
    names = {language.tag: language.name for language in languages()}
    return names if own in names else {own: own} | names


def _moment(language: Language, seconds: int) -> str:
    return language.moment(datetime.fromtimestamp(seconds, UTC))
