"""All kinds of records that the provider stores; each has a table of its name."""

from typing import Any

from identity.account.modification_tokens import MODIFICATION_TOKENS
from identity.admin.api_key import API_KEYS
from identity.authorization.code import AUTHORIZATION_CODES
from identity.authorization.pushed import PUSHED_REQUESTS
from identity.authorization.request import AUTHORIZATION_REQUESTS
from identity.clients.client import CLIENTS
from identity.clients.screens import CLIENT_SCREENS
from identity.consents.consent import CONSENTS
from identity.devices.device import DEVICE_CODES, DEVICES
from identity.devices.limits import DEVICE_STARTS, USER_CODE_ATTEMPTS
from identity.directory.labels import GROUPS, ROLES, SCOPE_DEFINITIONS, USER_ATTRIBUTES
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.user import USERS
from identity.directory.version import DIRECTORY_VERSIONS
from identity.events.event import EVENTS
from identity.federation.login import UPSTREAM_LOGINS
from identity.federation.provider import PROVIDER_LINKS, PROVIDERS
from identity.forward_auth.records import FORWARD_REQUESTS, FORWARD_SESSIONS
from identity.images.image import IMAGES
from identity.keys.root_secret import ROOT_SECRETS
from identity.keys.stored import KEY_SETS
from identity.leadership import LEADERS
from identity.links.link import LINKS
from identity.logout.records import BACK_CHANNEL_LOGOUTS, LOGOUT_REQUESTS
from identity.mail.queued_letter import QUEUED_LETTERS
from identity.notices.places import SIGN_IN_PLACES
from identity.one_time_codes.factors import CODE_FACTORS
from identity.one_time_codes.question import CODE_QUESTIONS
from identity.passkeys.ceremony import CEREMONIES
from identity.passkeys.passkey import PASSKEYS
from identity.registration.limits import REGISTRATION_ATTEMPTS
from identity.reset.requests import RESET_REQUESTS
from identity.sessions.session import SESSIONS
from identity.sign_in.account_failures import ACCOUNT_FAILURES
from identity.sign_in.failures import ADDRESS_FAILURES
from identity.single_use import SPENT_IDS
from identity.tenancy.sign_in_domain import SIGN_IN_DOMAINS
from identity.tenancy.tenant_record import TENANTS
from identity.tokens.revoked import REVOKED_TOKENS
from identity.tokens.token_set import TOKEN_SETS
from server.platform.records import Kind

KINDS: tuple[Kind[Any], ...] = (
    ACCOUNT_FAILURES,
    ADDRESS_FAILURES,
    API_KEYS,
    AUTHORIZATION_CODES,
    AUTHORIZATION_REQUESTS,
    BACK_CHANNEL_LOGOUTS,
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
    EVENTS,
    FORWARD_REQUESTS,
    FORWARD_SESSIONS,
    GROUPS,
    IMAGES,
    KEY_SETS,
    LEADERS,
    LINKS,
    LOGOUT_REQUESTS,
    MAPPING_RULES,
    MODIFICATION_TOKENS,
    PASSKEYS,
    PROVIDER_LINKS,
    PROVIDERS,
    PUSHED_REQUESTS,
    QUEUED_LETTERS,
    RESET_REQUESTS,
    REGISTRATION_ATTEMPTS,
    REVOKED_TOKENS,
    ROLES,
    ROOT_SECRETS,
    SCOPE_DEFINITIONS,
    SESSIONS,
    SIGN_IN_DOMAINS,
    SIGN_IN_PLACES,
    SPENT_IDS,
    TENANTS,
    TOKEN_SETS,
    UPSTREAM_LOGINS,
    USER_ATTRIBUTES,
    USER_CODE_ATTEMPTS,
    USERS,
)
