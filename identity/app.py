"""Composition root of the provider: the only module that depends on all of its parts."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from google.protobuf.descriptor import ServiceDescriptor

from identity.access.administrators import Administrators
from identity.access.last_administrator import LastAdministrator
from identity.access.login_protection.delays import Delays
from identity.access.networks.networks import Networks
from identity.access.sessions.logout_records import BACK_CHANNEL_LOGOUTS, BackChannelLogout
from identity.access.tokens.config import LONGEST_ACCESS_TOKEN
from identity.access.tokens.signatures import Signatures
from identity.administration.webhooks.signatures import WebhookSecrets
from identity.authentication.federation.secrets import ProviderSecrets
from identity.authentication.ldap.pools import LdapPools
from identity.authentication.ldap.secrets import LdapSecrets
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.saml.keys import SamlKeys
from identity.authentication.saml_applications.signing_keys import SamlSigningKeys
from identity.bootstrap import (
    SeedWriter,
    bootstrap_clients,
    bootstrap_tenants,
    bootstrap_users,
    tenants_own_clients,
)
from identity.clients.scim_applications.tokens import ScimTokens
from identity.config import IdentityConfig
from identity.crypto.keys.key_file import master_keys
from identity.crypto.keys.key_maintenance import PURPOSE, KeyMaintenance
from identity.crypto.keys.key_maker import KeyMaker, ThreadedKeyMaker
from identity.crypto.keys.key_ring import KeyRing
from identity.crypto.keys.publication import KeyPublication
from identity.crypto.keys.root_secret import RootSecrets
from identity.crypto.keys.safe import KeySafe
from identity.crypto.keys.schedule import Schedule
from identity.delivery.http.destinations import Destinations
from identity.delivery.http.documents import HttpDocuments
from identity.delivery.http.exchange import HttpExchange
from identity.delivery.http.published_keys import PublishedKeys
from identity.delivery.http.sender import HttpSender
from identity.delivery.mail.mail_queue import MailQueue
from identity.delivery.mail.queued_letter import LetterSafe
from identity.delivery.retry_queue import Pause, RetryQueue
from identity.directory.clients import Clients
from identity.directory.images.images import Images
from identity.directory.images.rewriter import Rewriter
from identity.directory.links.links import Links
from identity.directory.password_rules.breach_list import BreachList, breach_list
from identity.directory.passwords import Passwords
from identity.directory.secrets import SecretHasher
from identity.directory.standings import Standings
from identity.directory.subjects import Subjects
from identity.directory.version import DirectoryVersion
from identity.foundation.events.events import Events
from identity.foundation.leadership import Leadership
from identity.foundation.mail_address import email_key
from identity.foundation.randomness import Randomness, SystemRandomness
from identity.foundation.removals import Removals
from identity.foundation.shield import CallShield, ShieldedServicer, call_shield
from identity.maintenance import Upkeep
from identity.protocol.logout.back_channel import BackChannel
from identity.protocol.logout.delivery import HttpDelivery
from identity.protocol.logout.logout_token import LogoutTokens
from identity.records import KINDS
from identity.wiring.access import user_state_of
from identity.wiring.administration import AdministrationWiring
from identity.wiring.authorization import AuthorizationWiring
from identity.wiring.backchannel import BackchannelWiring
from identity.wiring.browsers import BrowserWiring
from identity.wiring.callers import callers_of
from identity.wiring.clients.client_screens import ClientScreenWiring
from identity.wiring.clients.saml_applications import saml_application_administration
from identity.wiring.clients.scim_applications import ScimApplicationWiring
from identity.wiring.dependencies import Dependencies
from identity.wiring.fed_cm import FedCmWiring
from identity.wiring.federation import FederationWiring
from identity.wiring.forward_auth import ForwardAuthWiring
from identity.wiring.images import ImageWiring
from identity.wiring.ldap import LdapWiring
from identity.wiring.mail import mailing
from identity.wiring.notices import NoticeWiring
from identity.wiring.password_reset import PasswordResetWiring
from identity.wiring.people_administration import PeopleAdministrationWiring
from identity.wiring.process_api import process_api
from identity.wiring.registration import RegistrationWiring
from identity.wiring.second_factors import SecondFactorWiring
from identity.wiring.tenants import TenantWiring
from identity.wiring.tokens import TokenWiring
from identity.wiring.webhooks import WebhookWiring
from server.platform.clock import Clock, SystemClock
from server.platform.document_revision import DocumentRevision
from server.platform.records import RecordStore


@dataclass(frozen=True, slots=True)
class Identity:
    """The running provider; `revision` counts changes of its published documents."""

    issuer: str
    servicers: Mapping[ServiceDescriptor, object]
    keys: KeyRing
    delays: Delays
    breach_list: BreachList
    calls: CallShield
    revision: DocumentRevision

    def drain(self) -> None:
        """Stop delaying answers of login protection; calls are served until `stop`."""
        self.delays.drain()

    async def stop(self) -> None:
        """Refuse new calls, and return when running calls have ended or were cancelled."""
        await self.calls.drain()


@asynccontextmanager
async def open_identity(
    config: IdentityConfig,
    store: RecordStore,
    clock: Clock | None = None,
    randomness: Randomness | None = None,
    *,
    making: KeyMaker | None = None,
    pause: Pause = asyncio.sleep,
    has_engine: bool = False,
) -> AsyncIterator[Identity]:
    """Serve calls and run the background loops while the block runs; at its end `making` is closed.

    With an engine, the removal of a tenant ends when the engine has reported that nothing of it is left.

    Queues pause between two look-ups of due tasks.

    Raises ValueError when the configuration contradicts itself or lacks a secret, LostMasterKey, Unavailable.
    """
    async with AsyncExitStack() as stack:
        dependencies = await _dependencies(
            config,
            store,
            clock or SystemClock(),
            randomness or SystemRandomness(),
            making=making or ThreadedKeyMaker(),
            pause=pause,
            stack=stack,
        )
        tenants = TenantWiring(dependencies, has_engine=has_engine)
        await tenants.open()
        user_state = user_state_of(dependencies)
        notices = NoticeWiring(dependencies, user_state)
        callers = callers_of(dependencies, user_state)
        tokens = TokenWiring(dependencies, user_state, callers)
        browsers = BrowserWiring(dependencies, user_state, tokens)
        second_factors = SecondFactorWiring(dependencies, user_state)
        password_reset = PasswordResetWiring(dependencies, user_state, tenants.targets, second_factors)
        authorization = AuthorizationWiring(
            dependencies,
            user_state,
            tokens,
            browsers,
            targets=tenants.targets,
            second_factors=second_factors.factors,
            watch=notices.watch,
            known_browsers=notices.browsers,
        )
        people = PeopleAdministrationWiring(
            dependencies,
            user_state,
            callers,
            factors=second_factors.proofs,
            notices=notices,
            welcome=password_reset.welcome,
            tenant_directory=tenants.directory,
        )
        registration = RegistrationWiring(
            dependencies,
            user_state,
            browsers.proof_of_work,
            targets=tenants.targets,
            groups=people.groups,
            password_links=password_reset.magic_links,
        )
        await _seed(dependencies)
        delivery = await stack.enter_async_context(
            HttpDelivery(dependencies.destinations, config.logout.timeout_secs)
        )
        sender = await stack.enter_async_context(HttpSender(dependencies.destinations))
        webhooks = WebhookWiring(dependencies, callers, user_state.users, sender)
        exchange = await stack.enter_async_context(HttpExchange(dependencies.destinations))
        scim = ScimApplicationWiring(dependencies, callers, exchange)
        backchannel = BackchannelWiring(dependencies, user_state, tokens, browsers)
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        running = [
            tasks.create_task(_keeper(dependencies).run()),
            tasks.create_task(dependencies.key_publication.run()),
            tasks.create_task(dependencies.networks.run()),
            tasks.create_task(_back_channel(dependencies, delivery).run(dependencies.tenants.all, pause)),
            *map(tasks.create_task, mailing(dependencies)),
            tasks.create_task(Upkeep(dependencies.store).run()),
            tasks.create_task(dependencies.removals.run(pause)),
            tasks.create_task(webhooks.loop()),
            tasks.create_task(scim.loop()),
            tasks.create_task(backchannel.loop(sender)),
            *map(tasks.create_task, (*tenants.loops(), *people.loops(), *password_reset.loops())),
        ]
        calls = await stack.enter_async_context(call_shield())
        try:
            servicers = {
                **tokens.servicers,
                **browsers.servicers,
                **authorization.servicers,
                **backchannel.servicers,
                **ForwardAuthWiring(dependencies, user_state, tokens).servicers,
                **tenants.servicers(callers),
                **people.servicers,
                **process_api(dependencies, user_state, people, tenants.administration),
                **registration.servicers,
                **FederationWiring(dependencies, callers, people).servicers,
                **LdapWiring(dependencies, callers, people).servicers,
                **second_factors.servicers(
                    authorization.context,
                    callers,
                    modification_tokens=people.modification_tokens,
                    link_ceremony=password_reset.ceremony,
                ),
                **password_reset.servicers(browsers.proof_of_work, people),
                **notices.servicers,
                **webhooks.servicers,
                **scim.servicers,
                **AdministrationWiring(dependencies, user_state, callers, erasures=people.erasures).servicers,
                **ImageWiring(dependencies, user_state, callers).servicers,
                **FedCmWiring(dependencies, user_state).servicers,
                **ClientScreenWiring(dependencies, callers).servicers,
                **saml_application_administration(dependencies, callers),
            }
            shielded = {service: ShieldedServicer(servicer, calls) for service, servicer in servicers.items()}
            yield Identity(
                dependencies.tenants.default.issuer,
                shielded,
                dependencies.keys,
                dependencies.delays,
                dependencies.breach_list,
                calls,
                dependencies.revision,
            )
        finally:
            dependencies.delays.drain()
            for task in running:
                task.cancel()


async def _dependencies(
    config: IdentityConfig,
    store: RecordStore,
    clock: Clock,
    randomness: Randomness,
    *,
    making: KeyMaker,
    pause: Pause,
    stack: AsyncExitStack,
) -> Dependencies:
    tenants = bootstrap_tenants(config)
    masters = master_keys(config.encryption, randomness)
    root_secrets = RootSecrets(store, masters, randomness)
    root = await root_secrets.open()
    events = Events(store, config.events.levels, clock=clock, randomness=randomness)
    networks = Networks(config.networks)
    await networks.open()
    passwords = Passwords(config.passwords)
    rewriter = Rewriter(config.pictures)
    revision = DocumentRevision()
    keys = KeyRing(
        store,
        KeySafe(masters, making, randomness),
        events,
        clock=clock,
        longest_token=LONGEST_ACCESS_TOKEN,
        revision=revision,
    )
    named = [client.backchannel_logout_uri for client in config.bootstrap.clients]
    destinations = Destinations.of(config.outgoing, named)
    documents = HttpDocuments(destinations)
    ldap_pools = LdapPools(
        Destinations.of_networks((*config.outgoing.allowed_networks, *config.ldap.allowed_networks)), clock
    )
    saml_keys = SamlKeys(masters, making, clock)
    signatures = Signatures()
    stack.push_async_callback(ldap_pools.close)
    stack.callback(making.close)
    stack.callback(signatures.close)
    stack.callback(passwords.close)
    stack.callback(rewriter.close)
    await stack.enter_async_context(documents)
    standings, bootstrap = Standings(store, tenants), config.bootstrap
    last_administrator = LastAdministrator(
        *(store, tenants, clock),
        emails=[
            email_key(email) for email in (bootstrap.admin_email, *(user.email for user in bootstrap.users))
        ],
    )
    breaches = await stack.enter_async_context(breach_list(config.passwords, clock))
    return Dependencies(
        config=config,
        tenants=tenants,
        store=store,
        clock=clock,
        randomness=randomness,
        master_keys=masters,
        root_secrets=root_secrets,
        root=root,
        secrets=SecretHasher(root.derived("secrets")),
        subjects=Subjects(root.derived),
        keys=keys,
        key_publication=KeyPublication(keys),
        signatures=signatures,
        events=events,
        networks=networks,
        mail=MailQueue(
            store,
            LetterSafe(masters),
            is_open=config.email.is_set,
            clock=clock,
            randomness=randomness,
        ),
        links=Links(store, SecretHasher(root.derived("links")), clock=clock, randomness=randomness),
        clients=Clients(store, tenants),
        passwords=passwords,
        breach_list=breaches,
        images=Images(store, clock=clock, randomness=randomness),
        rewriter=rewriter,
        standings=standings,
        administrators=Administrators(standings, last_administrator),
        last_administrator=last_administrator,
        directory_version=DirectoryVersion(store, revision),
        revision=revision,
        removals=Removals(store, KINDS, clock=clock, randomness=randomness),
        destinations=destinations,
        documents=documents,
        published_keys=PublishedKeys(documents, clock),
        delays=Delays(config.events.login_protection.max_delayed),
        saml_keys=saml_keys,
        saml_signing_keys=SamlSigningKeys(store, saml_keys),
        ldap_pools=ldap_pools,
        pause=pause,
    )


async def _seed(dependencies: Dependencies) -> None:
    clients = bootstrap_clients(dependencies.config, dependencies.tenants, dependencies.secrets)
    users = bootstrap_users(dependencies.config.bootstrap)
    seeding = SeedWriter(
        dependencies.store,
        dependencies.tenants,
        dependencies.passwords,
        dependencies.randomness,
        dependencies.clock,
    )
    await seeding.write((*clients, *tenants_own_clients(dependencies.tenants)), users)


def _keeper(dependencies: Dependencies) -> KeyMaintenance:
    leadership = Leadership(
        PURPOSE, dependencies.store, dependencies.clock, randomness=dependencies.randomness
    )
    schedule = Schedule(dependencies.config.lifetimes.jwk_autorotate_cron)
    return KeyMaintenance(
        dependencies.keys,
        dependencies.root_secrets,
        others=(
            ProviderSecrets(dependencies.store, dependencies.master_keys),
            LdapSecrets(dependencies.store, dependencies.master_keys),
            GeneratorSecrets(dependencies.store, dependencies.master_keys),
            WebhookSecrets(dependencies.store, dependencies.master_keys),
            ScimTokens(dependencies.store, dependencies.master_keys),
            dependencies.saml_signing_keys,
            dependencies.mail,
        ),
        master_keys=dependencies.master_keys,
        tenants=dependencies.tenants,
        schedule=schedule,
        leadership=leadership,
        clock=dependencies.clock,
    )


def _back_channel(dependencies: Dependencies, delivery: HttpDelivery) -> RetryQueue[BackChannelLogout]:
    tokens = LogoutTokens(
        dependencies.keys,
        dependencies.subjects,
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )
    return RetryQueue(
        "back-channel logout",
        dependencies.store.of(BACK_CHANNEL_LOGOUTS),
        BackChannel(dependencies.clients, tokens, delivery=delivery, events=dependencies.events),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
        policy=dependencies.config.logout,
    )
