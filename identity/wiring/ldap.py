"""Composes sign-in through LDAP directories, and their administration."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import ldap_directory_service_pb2
from identity.access.callers import Callers
from identity.access.rpc.admission import Admission
from identity.administration.ldap_directories import LdapAdministration
from identity.administration.rpc.ldap_directory import LdapDirectoryServicer
from identity.authentication.ldap.accounts import LdapAccounts
from identity.authentication.ldap.secrets import LdapSecrets
from identity.authentication.ldap.sign_in import LdapSignIn
from identity.authentication.ldap.trial import LdapTrial
from identity.directory.tenants.ldap_directory import LDAP_DIRECTORIES, LDAP_LINKS
from identity.directory.user import USERS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.linked_accounts import linked_accounts
from identity.wiring.people_administration import PeopleAdministrationWiring

_LDAP_DIRECTORIES = ldap_directory_service_pb2.DESCRIPTOR.services_by_name["LdapDirectoryService"]


class LdapWiring:
    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self, dependencies: Dependencies, callers: Callers, people: PeopleAdministrationWiring
    ) -> None:
        secrets = _secrets(dependencies)
        administration = LdapAdministration(
            directories=dependencies.store.of(LDAP_DIRECTORIES),
            links=dependencies.store.of(LDAP_LINKS),
            removals=dependencies.removals,
            users=dependencies.store.of(USERS),
            administrators=dependencies.administrators,
            roles=people.roles,
            groups=people.groups,
            destinations=dependencies.ldap_pools.destinations,
            secrets=secrets,
            trial=LdapTrial(dependencies.ldap_pools, secrets),
            events=dependencies.events,
            randomness=dependencies.randomness,
            config=dependencies.config.ldap,
        )
        admission = Admission(dependencies.tenants, callers)
        self.servicers = {_LDAP_DIRECTORIES: LdapDirectoryServicer(admission, administration)}


def ldap_sign_in(dependencies: Dependencies, user_state: UserState) -> LdapSignIn:
    accounts = LdapAccounts(
        linked=linked_accounts(dependencies, user_state, LDAP_LINKS),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )
    return LdapSignIn(
        dependencies.store,
        dependencies.ldap_pools,
        _secrets(dependencies),
        accounts,
        dependencies.randomness,
    )


def _secrets(dependencies: Dependencies) -> LdapSecrets:
    return LdapSecrets(dependencies.store, dependencies.master_keys)
