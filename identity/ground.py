"""Dependencies that every part of the provider uses."""

from dataclasses import dataclass

from identity.clients.clients import Clients
from identity.clients.secrets import SecretHasher
from identity.config import IdentityConfig
from identity.directory.passwords import Passwords
from identity.directory.standings import Standings
from identity.directory.version import DirectoryVersion
from identity.events.events import Events
from identity.images.images import Images
from identity.images.rewriter import Rewriter
from identity.keys.key_ring import KeyRing
from identity.keys.master_keys import MasterKeys
from identity.keys.publication import KeyPublication
from identity.keys.root_secret import RootSecret, RootSecrets
from identity.links.links import Links
from identity.mail.postbox import Postbox
from identity.outgoing.destinations import Destinations
from identity.outgoing.documents import HttpDocuments
from identity.outgoing.published_keys import PublishedKeys
from identity.randomness import Randomness
from identity.sign_in.delays import Delays
from identity.tenants import Tenants
from server.platform.clock import Clock
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    config: IdentityConfig
    tenants: Tenants
    store: RecordStore
    clock: Clock
    randomness: Randomness
    master_keys: MasterKeys
    root_secrets: RootSecrets
    root: RootSecret
    secrets: SecretHasher
    keys: KeyRing
    key_publication: KeyPublication
    events: Events
    mail: Postbox
    links: Links
    clients: Clients
    passwords: Passwords
    images: Images
    rewriter: Rewriter
    standings: Standings
    directory_version: DirectoryVersion
    destinations: Destinations
    documents: HttpDocuments
    published_keys: PublishedKeys
    delays: Delays
