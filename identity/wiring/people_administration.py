"""Composes the administration of users and the self-service of their accounts."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    account_service_pb2,
    authorization_details_type_service_pb2,
    consent_service_pb2,
    device_list_service_pb2,
    group_service_pb2,
    mapping_rule_service_pb2,
    membership_service_pb2,
    password_policy_service_pb2,
    provisioning_service_pb2,
    role_service_pb2,
    scope_service_pb2,
    session_administration_service_pb2,
    user_attribute_service_pb2,
    user_service_pb2,
    user_transfer_service_pb2,
)
from identity.access.callers import Callers
from identity.access.device import DEVICES
from identity.access.rpc.admission import Admission
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.sessions.session import SESSIONS
from identity.administration.personal_data.erasures import Erasures, ErasureWork
from identity.administration.rpc.session_administration import SessionAdministrationServicer
from identity.administration.sessions import SessionAdministration
from identity.administration.tenant_sign_out import TenantSignOut
from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.authentication.reauthentication.modification_tokens import (
    MODIFICATION_TOKENS,
    ModificationTokens,
)
from identity.authentication.reauthentication.proofs import FactorProofs, Proofs
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.authorization_details.type_definitions import expect_type
from identity.directory.client import CLIENTS
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import (
    AUTHORIZATION_DETAILS_TYPES,
    GROUPS,
    MOST_SCOPES,
    ROLES,
    SCOPE_DEFINITIONS,
    USER_ATTRIBUTES,
    AuthorizationDetailsType,
    Group,
    Role,
    ScopeDefinition,
)
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.providers import Providers
from identity.directory.tenants.default_groups import DefaultGroups
from identity.directory.tenants.ldap_directory import LDAP_LINKS
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.tenant_directory import TenantDirectory
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.user import USERS
from identity.foundation.leadership import Leadership
from identity.foundation.vocabulary import BUILT_IN_SCOPES
from identity.people import names
from identity.people.account.addresses import AddressChanges
from identity.people.account.expired_accounts import PURPOSE, AccountUpkeep
from identity.people.account.own_account import OwnAccount
from identity.people.account.password_choice import PasswordChoice
from identity.people.authorizations import Authorizations
from identity.people.holders import (
    AllOf,
    PeopleWithAttributes,
    RecordsWith,
    ScopesWithAttributes,
    holders_of_groups,
    holders_of_roles,
    holders_of_scopes,
)
from identity.people.labels import Labels
from identity.people.mapping_rules import MappingRules
from identity.people.memberships import Memberships
from identity.people.provisioning.groups import ProvisionedGroups
from identity.people.provisioning.resources import Resources
from identity.people.provisioning.users import ProvisionedUsers
from identity.people.rpc.account import AccountServicer
from identity.people.rpc.authorization_details_type import AuthorizationDetailsTypeServicer
from identity.people.rpc.group import GroupServicer
from identity.people.rpc.mapping_rule import MappingRuleServicer
from identity.people.rpc.membership import MembershipServicer
from identity.people.rpc.password_policy import PasswordPolicyServicer
from identity.people.rpc.provisioning import ProvisioningServicer
from identity.people.rpc.role import RoleServicer
from identity.people.rpc.scope import ScopeServicer
from identity.people.rpc.user import UserServicer
from identity.people.rpc.user_attribute import UserAttributeServicer
from identity.people.rpc.user_transfer import UserTransferServicer
from identity.people.transfer.exports import UserExports
from identity.people.transfer.imports import UserImports
from identity.people.user_attributes import UserAttributes
from identity.people.users import UserAdministration, WelcomeMails
from identity.protocol.consents import ConsentAdministration
from identity.protocol.devices.administration import DeviceAdministration
from identity.protocol.rpc.consent import ConsentServicer
from identity.protocol.rpc.device_list import DeviceListServicer
from identity.protocol.unredeemed_codes import UnredeemedCodes
from identity.records import PERSONAL_SECTIONS
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.notices import NoticeWiring

_ACCOUNTS = account_service_pb2.DESCRIPTOR.services_by_name["AccountService"]
_USERS = user_service_pb2.DESCRIPTOR.services_by_name["UserService"]
_TRANSFER = user_transfer_service_pb2.DESCRIPTOR.services_by_name["UserTransferService"]
_GROUPS = group_service_pb2.DESCRIPTOR.services_by_name["GroupService"]
_ROLES = role_service_pb2.DESCRIPTOR.services_by_name["RoleService"]
_RULES = mapping_rule_service_pb2.DESCRIPTOR.services_by_name["MappingRuleService"]
_MEMBERSHIPS = membership_service_pb2.DESCRIPTOR.services_by_name["MembershipService"]
_SCOPES = scope_service_pb2.DESCRIPTOR.services_by_name["ScopeService"]
_DETAILS_TYPES = authorization_details_type_service_pb2.DESCRIPTOR.services_by_name[
    "AuthorizationDetailsTypeService"
]
_ATTRIBUTES = user_attribute_service_pb2.DESCRIPTOR.services_by_name["UserAttributeService"]
_PROVISIONING = provisioning_service_pb2.DESCRIPTOR.services_by_name["ProvisioningService"]
_POLICIES = password_policy_service_pb2.DESCRIPTOR.services_by_name["PasswordPolicyService"]
_SESSIONS = session_administration_service_pb2.DESCRIPTOR.services_by_name["SessionAdministrationService"]
_CONSENTS = consent_service_pb2.DESCRIPTOR.services_by_name["ConsentService"]
_DEVICES = device_list_service_pb2.DESCRIPTOR.services_by_name["DeviceListService"]


class PeopleAdministrationWiring:
    """`groups` and `roles` are the names that can be given to users, `people` the users themselves."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        dependencies: Dependencies,
        user_state: UserState,
        callers: Callers,
        *,
        factors: FactorProofs,
        notices: NoticeWiring,
        welcome: WelcomeMails,
        tenant_directory: TenantDirectory,
    ) -> None:
        self._dependencies = dependencies
        self._factors = factors
        self._notices = notices
        self._welcome = welcome
        self.modification_tokens = ModificationTokens(
            dependencies.store.of(MODIFICATION_TOKENS),
            dependencies.secrets,
            shown_factors=ShownFactors(user_state.users, user_state.sessions),
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self._user_state = user_state
        self.sign_out = user_state.sign_out
        self._tenant_sign_out = TenantSignOut(
            dependencies.tenants,
            tenant_directory,
            user_state.termination,
            store=dependencies.store,
            version=dependencies.directory_version,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self._users = dependencies.store.of(USERS)
        self.policies = PasswordPolicies(dependencies.store.of(TENANTS), dependencies.events)
        self.password_choice = PasswordChoice(
            self.policies,
            dependencies.passwords,
            dependencies.clock,
            breach_list=dependencies.breach_list,
            ldap_links=dependencies.store.of(LDAP_LINKS),
        )
        self.administrators = dependencies.administrators
        admission = Admission(dependencies.tenants, callers)
        self.api_callers = ProcessApiCallers(
            *(dependencies.tenants, self._users, dependencies.clock),
            deployment_client_id=dependencies.config.bootstrap.client_id,
        )
        self.groups, self.roles, attributes = self._groups(), self._roles(), self._attributes()
        self.people = self._user_administration()
        self.erasures = Erasures(
            dependencies.store,
            self.people,
            tenants=dependencies.tenants,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        self.mapping_rules = self._mapping_rules()
        self.authorizations = self._authorizations()
        self.servicers = {
            _ACCOUNTS: self._accounts(admission),
            _USERS: UserServicer(admission, self.people),
            _TRANSFER: self._transfer(admission, attributes),
            _GROUPS: GroupServicer(admission, self.groups, self.roles),
            _ROLES: RoleServicer(admission, self.roles),
            _RULES: MappingRuleServicer(self.api_callers, self.mapping_rules),
            _MEMBERSHIPS: MembershipServicer(self.api_callers, self._memberships()),
            _SCOPES: ScopeServicer(admission, self._scopes(), attributes),
            _DETAILS_TYPES: AuthorizationDetailsTypeServicer(admission, self._details_types()),
            _ATTRIBUTES: UserAttributeServicer(admission, attributes),
            _POLICIES: PasswordPolicyServicer(admission, self.policies),
            _PROVISIONING: self._provisioning(admission),
            _SESSIONS: self._session_administration(admission),
            _CONSENTS: ConsentServicer(
                admission,
                ConsentAdministration(
                    user_state.consents,
                    dependencies.clients,
                    details=DetailTypes(dependencies.store),
                    codes=UnredeemedCodes(dependencies.store),
                    token_sets=user_state.token_sets,
                    events=dependencies.events,
                ),
            ),
            _DEVICES: DeviceListServicer(
                admission,
                DeviceAdministration(
                    dependencies.store.of(DEVICES), user_state.token_sets, dependencies.events
                ),
            ),
        }

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs."""
        dependencies = self._dependencies
        yield AccountUpkeep(
            dependencies.tenants,
            self._users,
            removal=self.people,
            settings=dependencies.store.of(TENANTS),
            leadership=Leadership(
                PURPOSE, dependencies.store, dependencies.clock, randomness=dependencies.randomness
            ),
            events=dependencies.events,
            clock=dependencies.clock,
            config=dependencies.config.users,
        ).run()
        yield self._tenant_sign_out.run()
        yield ErasureWork(
            dependencies.store,
            PERSONAL_SECTIONS,
            self.erasures,
            users=self.people,
            tenants=dependencies.tenants,
            clock=dependencies.clock,
            pause=dependencies.pause,
        ).run()

    def _user_administration(self) -> UserAdministration:
        dependencies = self._dependencies
        return UserAdministration(
            users=self._users,
            welcome=self._welcome,
            tenants=dependencies.tenants,
            roles=self.roles,
            groups=self.groups,
            administrators=self.administrators,
            removals=dependencies.removals,
            version=dependencies.directory_version,
            password_choice=self.password_choice,
            reserved_usernames=dependencies.config.users.preferred_username_blacklist,
            sign_out=self._user_state.sign_out,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )

    def _transfer(self, admission: Admission, attributes: UserAttributes) -> UserTransferServicer:
        dependencies = self._dependencies
        store, providers = dependencies.store, Providers(dependencies.store)
        imports = UserImports(
            users=self._users,
            links=store.of(PROVIDER_LINKS),
            factors=store.of(CODE_FACTORS),
            groups=self.groups,
            roles=self.roles,
            attributes=attributes,
            providers=providers,
            secrets=GeneratorSecrets(store, dependencies.master_keys),
            costliest=CostliestHashes(store),
            administrators=self.administrators,
            reserved_usernames=dependencies.config.users.preferred_username_blacklist,
            version=dependencies.directory_version,
            events=dependencies.events,
            clock=dependencies.clock,
            randomness=dependencies.randomness,
        )
        exports = UserExports(
            users=self._users,
            links=store.of(PROVIDER_LINKS),
            providers=providers,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        return UserTransferServicer(dependencies.tenants, admission, imports, exports)

    def _provisioning(self, admission: Admission) -> ProvisioningServicer:
        users = ProvisionedUsers(records=self._users, administration=self.people, groups=self.groups)
        groups = ProvisionedGroups(
            records=self._users,
            administration=self.people,
            groups=self.groups,
            clock=self._dependencies.clock,
        )
        return ProvisioningServicer(admission, Resources(users=users, groups=groups))

    def _accounts(self, admission: Admission) -> AccountServicer:
        dependencies, user_state = self._dependencies, self._user_state
        proofs = Proofs(
            user_state.users,
            dependencies.passwords,
            factors=self._factors,
            shown_factors=ShownFactors(user_state.users, user_state.sessions),
            protection=user_state.protection,
            tokens=self.modification_tokens,
        )
        addresses = AddressChanges(
            users=self._users,
            links=dependencies.links,
            mail=dependencies.mail,
            revocations=self._notices.revocations,
            version=dependencies.directory_version,
            events=dependencies.events,
            clock=dependencies.clock,
        )
        account = OwnAccount(
            self.people,
            proofs,
            removal=self.erasures,
            addresses=addresses,
            sessions=user_state.sessions,
            config=dependencies.config.users,
        )
        return AccountServicer(
            admission, account, addresses=addresses, proofs=proofs, clock=dependencies.clock
        )

    def _groups(self) -> Labels[Group]:
        dependencies = self._dependencies
        return Labels(
            "group",
            dependencies.store,
            GROUPS,
            checked=names.group,
            built_in=(),
            holders=AllOf(holders_of_groups(dependencies.store), DefaultGroups(dependencies.store)),
            administrators=self.administrators,
            removals=dependencies.removals,
            version=dependencies.directory_version,
            events=dependencies.events,
            randomness=dependencies.randomness,
        )

    def _roles(self) -> Labels[Role]:
        dependencies = self._dependencies
        return Labels(
            "role",
            dependencies.store,
            ROLES,
            checked=names.label,
            built_in=ADMINISTRATOR_ROLES,
            holders=holders_of_roles(dependencies.store),
            administrators=self.administrators,
            removals=dependencies.removals,
            version=dependencies.directory_version,
            events=dependencies.events,
            randomness=dependencies.randomness,
        )

    def _mapping_rules(self) -> MappingRules:
        dependencies = self._dependencies
        return MappingRules(
            records=dependencies.store.of(MAPPING_RULES),
            removals=dependencies.removals,
            administrators=self.administrators,
            version=dependencies.directory_version,
            events=dependencies.events,
        )

    def _authorizations(self) -> Authorizations:
        dependencies = self._dependencies
        return Authorizations(
            dependencies.store,
            administrators=self.administrators,
            version=dependencies.directory_version,
            events=dependencies.events,
            randomness=dependencies.randomness,
        )

    def _memberships(self) -> Memberships:
        dependencies = self._dependencies
        return Memberships(
            dependencies.store,
            dependencies.tenants,
            roles=self.roles,
            groups=self.groups,
            administrators=self.administrators,
            version=dependencies.directory_version,
            events=dependencies.events,
        )

    def _scopes(self) -> Labels[ScopeDefinition]:
        dependencies = self._dependencies
        return Labels(
            "scope",
            dependencies.store,
            SCOPE_DEFINITIONS,
            checked=names.label,
            built_in=BUILT_IN_SCOPES,
            holders=holders_of_scopes(dependencies.store),
            administrators=self.administrators,
            removals=dependencies.removals,
            version=dependencies.directory_version,
            events=dependencies.events,
            randomness=dependencies.randomness,
            most=MOST_SCOPES,
        )

    def _details_types(self) -> Labels[AuthorizationDetailsType]:
        dependencies = self._dependencies
        return Labels(
            "type of authorization details",
            dependencies.store,
            AUTHORIZATION_DETAILS_TYPES,
            checked=names.label,
            built_in=(),
            holders=RecordsWith(dependencies.store.of(CLIENTS), "authorization_details_types"),
            most=MOST_SCOPES,
            administrators=self.administrators,
            removals=dependencies.removals,
            version=dependencies.directory_version,
            events=dependencies.events,
            randomness=dependencies.randomness,
            expect=expect_type,
        )

    def _attributes(self) -> UserAttributes:
        dependencies = self._dependencies
        return UserAttributes(
            attributes=dependencies.store.of(USER_ATTRIBUTES),
            users=self._users,
            holders=(
                PeopleWithAttributes(self._users),
                ScopesWithAttributes(dependencies.store.of(SCOPE_DEFINITIONS)),
            ),
            administrators=self.administrators,
            events=dependencies.events,
            clock=dependencies.clock,
        )

    def _session_administration(self, admission: Admission) -> SessionAdministrationServicer:
        dependencies = self._dependencies
        administration = SessionAdministration(
            dependencies.store.of(SESSIONS),
            self._users,
            termination=self._user_state.termination,
            sign_out=self._user_state.sign_out,
            events=dependencies.events,
        )
        return SessionAdministrationServicer(
            admission,
            administration,
            self._tenant_sign_out,
            idle=dependencies.config.lifetimes.session_timeout,
        )
