"""All kinds of records, in the order of the navigation."""

from collections.abc import Mapping
from typing import Final

from edge.console.identity.clients import CLIENTS
from edge.console.identity.declarations import RecordKind
from edge.console.identity.directories import LDAP_DIRECTORIES
from edge.console.identity.labels import ATTRIBUTES, DETAILS_TYPES, GROUPS, ROLES, SCOPES
from edge.console.identity.people import USERS
from edge.console.identity.saml_applications import SAML_APPLICATIONS, SAML_KEYS
from edge.console.identity.scim_applications import SCIM_APPLICATIONS
from edge.console.identity.screens import SCREENS
from edge.console.identity.security import API_KEYS, BLOCKS, EVENTS, KEYS, SESSIONS
from edge.console.identity.tenants import DOMAINS, PASSWORDS, PROVIDERS, SETTINGS, TENANTS
from edge.console.identity.terms_of_use import TERMS
from edge.console.identity.webhooks import WEBHOOKS

_ALL: Final = (
    *(USERS, GROUPS, ROLES, ATTRIBUTES, CLIENTS, SCREENS, SCOPES, DETAILS_TYPES, PROVIDERS),
    *(SAML_APPLICATIONS, SAML_KEYS, SCIM_APPLICATIONS, LDAP_DIRECTORIES, DOMAINS),
    *(SESSIONS, EVENTS, WEBHOOKS, API_KEYS, BLOCKS, KEYS, PASSWORDS, TERMS, SETTINGS, TENANTS),
)
KINDS: Final[Mapping[str, RecordKind]] = {kind.name: kind for kind in _ALL}
