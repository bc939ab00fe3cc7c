"""Dependencies that every part of the provider uses."""

from dataclasses import dataclass

from identity.access.administrators import Administrators
from identity.access.last_administrator import LastAdministrator
from identity.access.login_protection.delays import Delays
from identity.access.networks.networks import Networks
from identity.access.tokens.signatures import Signatures
from identity.authentication.ldap.pools import LdapPools
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.config import IdentityConfig
from identity.crypto.keys.key_ring import KeyRing
from identity.crypto.keys.master_keys import MasterKeys
from identity.crypto.keys.publication import KeyPublication
from identity.crypto.keys.root_secret import RootSecret, RootSecrets
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import HttpDocuments
from identity.delivery.http.published_keys import PublishedKeys
from identity.delivery.mail.mail_queue import MailQueue
from identity.delivery.retry_queue import Pause
from identity.directory.clients import Clients
from identity.directory.images.images import Images
from identity.directory.images.rewriter import Rewriter
from identity.directory.links.links import Links
from identity.directory.password_rules.breach_list import BreachList
from identity.directory.passwords import Passwords
from identity.directory.secrets import SecretHasher
from identity.directory.standings import Standings
from identity.directory.subjects import Subjects
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.randomness import Randomness
from identity.foundation.removals import Removals
from identity.foundation.tenants import Tenants
from server.platform.clock import Clock
from server.platform.document_revision import DocumentRevision
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    config: IdentityConfig
    tenants: Tenants
    store: RecordStore
    clock: Clock
    randomness: Randomness
    master_keys: MasterKeys
    root_secrets: RootSecrets
    root: RootSecret
    secrets: SecretHasher
    subjects: Subjects
    keys: KeyRing
    key_publication: KeyPublication
    signatures: Signatures
    events: Events
    networks: Networks
    mail: MailQueue
    links: Links
    clients: Clients
    passwords: Passwords
    breach_list: BreachList
    images: Images
    rewriter: Rewriter
    standings: Standings
    administrators: Administrators
    last_administrator: LastAdministrator
    directory_version: DirectoryVersion
    revision: DocumentRevision
    removals: Removals
    destinations: Destinations
    documents: HttpDocuments
    published_keys: PublishedKeys
    delays: Delays
    saml_keys: SamlKeys
    saml_signing_keys: SamlSigningKeys
    ldap_pools: LdapPools
    pause: Pause
