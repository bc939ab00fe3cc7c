"""All kinds of records that the provider stores, each with a table of its name, and those about one person."""

from typing import Any

from identity.access.api_key import API_KEYS
from identity.access.backchannel import BACKCHANNEL_REQUESTS
from identity.access.device import DEVICE_CODES, DEVICES
from identity.access.last_administrator import SETUPS
from identity.access.login_protection.account_failures import ACCOUNT_FAILURES
from identity.access.login_protection.failures import ADDRESS_FAILURES
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, LOGOUT_REQUESTS
from identity.access.sessions.session import SESSIONS
from identity.access.tokens.revoked import REVOKED_TOKENS
from identity.access.tokens.token_set import TOKEN_SETS
from identity.administration.personal_data.erasure import ERASURES
from identity.administration.personal_data.sections import SECTIONS, ByIds, Section, section
from identity.administration.webhooks.webhook import WEBHOOKS
from identity.authentication.authorization.code import AUTHORIZATION_CODES
from identity.authentication.client_screens import CLIENT_SCREENS
from identity.authentication.federation.login import UPSTREAM_LOGINS
from identity.authentication.federation.pending_link import PENDING_LINKS
from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.authentication.one_time_codes.question import CODE_QUESTIONS
from identity.authentication.passkeys.ceremony import CEREMONIES
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.reauthentication.modification_tokens import MODIFICATION_TOKENS
from identity.authentication.requests.pushed import PUSHED_REQUESTS
from identity.authentication.requests.request import AUTHORIZATION_REQUESTS
from identity.authentication.saml.arrival import SAML_ARRIVALS
from identity.authentication.saml_applications.signing_keys import SAML_SIGNING_KEYS
from identity.clients.scim_applications.application import SCIM_APPLICATIONS, SCIM_RESOURCES, ids_of_user
from identity.crypto.keys.root_secret import ROOT_SECRETS
from identity.crypto.keys.stored import KEY_SETS
from identity.delivery.mail.queued_letter import QUEUED_LETTERS
from identity.directory.authorization import AUTHORIZATIONS
from identity.directory.client import CLIENTS
from identity.directory.consents.consent import CONSENTS
from identity.directory.consents.support_access import SUPPORT_ACCESSES
from identity.directory.images.image import IMAGES
from identity.directory.labels import (
    AUTHORIZATION_DETAILS_TYPES,
    GROUPS,
    ROLES,
    SCOPE_DEFINITIONS,
    USER_ATTRIBUTES,
)
from identity.directory.links.link import LINKS
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.provider import PROVIDER_LINKS, PROVIDERS
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LDAP_LINKS
from identity.directory.tenants.saml_application import SAML_APPLICATIONS
from identity.directory.tenants.sign_in_domain import SIGN_IN_DOMAINS
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.terms_of_use.terms import TERMS_ACCEPTANCES, TERMS_TEXTS, TERMS_VERSIONS
from identity.directory.user import USERS
from identity.directory.version import DIRECTORY_VERSIONS
from identity.foundation.events.event import EVENTS
from identity.foundation.leadership import LEADERS
from identity.foundation.single_use import SPENT_IDS
from identity.people.notices.places import SIGN_IN_PLACES
from identity.people.registration.limits import REGISTRATION_ATTEMPTS
from identity.people.reset.requests import RESET_REQUESTS
from identity.protocol.backchannel.limits import OPEN_REQUESTS
from identity.protocol.backchannel.notifications import BACKCHANNEL_NOTIFICATIONS
from identity.protocol.devices.limits import DEVICE_STARTS, USER_CODE_ATTEMPTS
from identity.protocol.forward_auth.records import FORWARD_REQUESTS, FORWARD_SESSIONS
from server.platform.records import REMOVALS, Kind

KINDS: tuple[Kind[Any], ...] = (
    ACCOUNT_FAILURES,
    ADDRESS_FAILURES,
    API_KEYS,
    AUTHORIZATION_CODES,
    AUTHORIZATION_DETAILS_TYPES,
    AUTHORIZATION_REQUESTS,
    AUTHORIZATIONS,
    BACK_CHANNEL_LOGOUTS,
    BACKCHANNEL_NOTIFICATIONS,
    BACKCHANNEL_REQUESTS,
    CEREMONIES,
    CLIENT_SCREENS,
    CLIENTS,
    CODE_FACTORS,
    CODE_QUESTIONS,
    CONSENTS,
    DEVICE_CODES,
    DEVICE_STARTS,
    DEVICES,
    DIRECTORY_VERSIONS,
    ERASURES,
    EVENTS,
    FORWARD_REQUESTS,
    FORWARD_SESSIONS,
    GROUPS,
    IMAGES,
    KEY_SETS,
    LDAP_DIRECTORIES,
    LDAP_LINKS,
    LEADERS,
    LINKS,
    LOGOUT_REQUESTS,
    MAPPING_RULES,
    MODIFICATION_TOKENS,
    OPEN_REQUESTS,
    PASSKEYS,
    PENDING_LINKS,
    PROVIDER_LINKS,
    PROVIDERS,
    PUSHED_REQUESTS,
    QUEUED_LETTERS,
    REMOVALS,
    RESET_REQUESTS,
    REGISTRATION_ATTEMPTS,
    REVOKED_TOKENS,
    ROLES,
    ROOT_SECRETS,
    SCIM_APPLICATIONS,
    SCIM_RESOURCES,
    SCOPE_DEFINITIONS,
    SESSIONS,
    SETUPS,
    SIGN_IN_DOMAINS,
    SIGN_IN_PLACES,
    SPENT_IDS,
    SUPPORT_ACCESSES,
    TENANTS,
    TERMS_ACCEPTANCES,
    TERMS_TEXTS,
    TERMS_VERSIONS,
    TOKEN_SETS,
    UPSTREAM_LOGINS,
    SAML_APPLICATIONS,
    SAML_ARRIVALS,
    SAML_SIGNING_KEYS,
    USER_ATTRIBUTES,
    USER_CODE_ATTEMPTS,
    USERS,
    WEBHOOKS,
)

PERSONAL_SECTIONS: tuple[Section, ...] = (*SECTIONS, section(SCIM_RESOURCES, ByIds(ids_of_user), "digest"))
"""The records that belong to the data of one person, in the order of an export."""
