"""Composes the administration of users and the self-service of their accounts."""

from collections.abc import Coroutine, Iterator, Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.identity.v1 import (
    account_service_pb2,
    consent_service_pb2,
    device_list_service_pb2,
    group_service_pb2,
    mapping_rule_service_pb2,
    membership_service_pb2,
    password_policy_service_pb2,
    role_service_pb2,
    scope_service_pb2,
    session_administration_service_pb2,
    user_attribute_service_pb2,
    user_service_pb2,
)
from identity.access.administrators import Administrators
from identity.access.callers import Callers
from identity.access.device import DEVICES
from identity.access.rpc.admission import Admission
from identity.access.rpc.process_api_caller import ProcessApiCallers
from identity.access.sessions.session import SESSIONS
from identity.access.tokens.token_set import TOKEN_SETS
from identity.administration.rpc.session_administration import SessionAdministrationServicer
from identity.administration.sessions import SessionAdministration
from identity.authentication.one_time_codes.code_factor_records import CodeFactorRecords
from identity.authentication.passkeys.passkey import PASSKEYS
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.reauthentication.modification_tokens import (
    MODIFICATION_TOKENS,
    ModificationTokens,
)
from identity.authentication.reauthentication.proofs import FactorProofs, Proofs
from identity.authentication.reauthentication.shown_factors import ShownFactors
from identity.directory.client import CLIENTS
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.directory.labels import (
    GROUPS,
    ROLES,
    SCOPE_DEFINITIONS,
    USER_ATTRIBUTES,
    Group,
    Role,
    ScopeDefinition,
)
from identity.directory.mapping_rule import MAPPING_RULES
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.tenants.default_groups import DefaultGroups
from identity.directory.tenants.password_policies import PasswordPolicies
from identity.directory.tenants.tenant_record import TENANTS
from identity.directory.user import USERS
from identity.foundation.leadership import Leadership
from identity.foundation.vocabulary import BUILT_IN_SCOPES
from identity.people import names
from identity.people.account.addresses import AddressChanges
from identity.people.account.expired_accounts import PURPOSE, AccountUpkeep
from identity.people.account.own_account import OwnAccount
from identity.people.account.password_choice import PasswordChoice
from identity.people.holders import (
    AllOf,
    PeopleWithAttributes,
    RecordsWith,
    ScopesWithAttributes,
    holders_of_groups,
    holders_of_roles,
)
from identity.people.labels import Labels
from identity.people.mapping_rules import MappingRules
from identity.people.memberships import Memberships
from identity.people.rpc.account import AccountServicer
from identity.people.rpc.group import GroupServicer
from identity.people.rpc.mapping_rule import MappingRuleServicer
from identity.people.rpc.membership import MembershipServicer
from identity.people.rpc.password_policy import PasswordPolicyServicer
from identity.people.rpc.role import RoleServicer
from identity.people.rpc.scope import ScopeServicer
from identity.people.rpc.user import UserServicer
from identity.people.rpc.user_attribute import UserAttributeServicer
from identity.people.user_attributes import UserAttributes
from identity.people.users import UserAdministration, WelcomeMails
from identity.protocol.consents import ConsentAdministration
from identity.protocol.devices.administration import DeviceAdministration
from identity.protocol.rpc.consent import ConsentServicer
from identity.protocol.rpc.device_list import DeviceListServicer
from identity.protocol.unredeemed_codes import UnredeemedCodes
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.notices import NoticeWiring

_ACCOUNTS = account_service_pb2.DESCRIPTOR.services_by_name["AccountService"]
_USERS = user_service_pb2.DESCRIPTOR.services_by_name["UserService"]
_GROUPS = group_service_pb2.DESCRIPTOR.services_by_name["GroupService"]
_ROLES = role_service_pb2.DESCRIPTOR.services_by_name["RoleService"]
_RULES = mapping_rule_service_pb2.DESCRIPTOR.services_by_name["MappingRuleService"]
_MEMBERSHIPS = membership_service_pb2.DESCRIPTOR.services_by_name["MembershipService"]
_SCOPES = scope_service_pb2.DESCRIPTOR.services_by_name["ScopeService"]
_ATTRIBUTES = user_attribute_service_pb2.DESCRIPTOR.services_by_name["UserAttributeService"]
_POLICIES = password_policy_service_pb2.DESCRIPTOR.services_by_name["PasswordPolicyService"]
_SESSIONS = session_administration_service_pb2.DESCRIPTOR.services_by_name["SessionAdministrationService"]
_CONSENTS = consent_service_pb2.DESCRIPTOR.services_by_name["ConsentService"]
_DEVICES = device_list_service_pb2.DESCRIPTOR.services_by_name["DeviceListService"]


class PeopleAdministrationWiring:
    """`groups` and `roles` are the names that can be given to users, `people` the users themselves."""

    servicers: Mapping[ServiceDescriptor, object]

    def __init__(
        self,
        ground: Dependencies,
        presence: UserState,
        callers: Callers,
        *,
        factors: FactorProofs,
        noticing: NoticeWiring,
        welcome: WelcomeMails,
    ) -> None:
        self._ground = ground
        self._factors = factors
        self._noticing = noticing
        self._welcome = welcome
        self.modification_tokens = ModificationTokens(
            ground.store.of(MODIFICATION_TOKENS),
            ground.secrets,
            shown_factors=ShownFactors(presence.users, presence.sessions),
            clock=ground.clock,
            randomness=ground.randomness,
        )
        self._presence = presence
        self._users = ground.store.of(USERS)
        self.policies = PasswordPolicies(ground.store.of(TENANTS), ground.events)
        self.choosing = PasswordChoice(self.policies, ground.passwords, ground.clock)
        self.administrators = Administrators(ground.standings)
        admission = Admission(ground.tenants, callers)
        self.acting = ProcessApiCallers(
            *(ground.tenants, self._users, ground.clock),
            deployment_client_id=ground.config.bootstrap.client_id,
        )
        self.groups, self.roles, attributes = self._groups(), self._roles(), self._attributes()
        self.people = self._user_administration()
        self.mapping_rules = self._mapping_rules()
        self.servicers = {
            _ACCOUNTS: self._accounts(admission),
            _USERS: UserServicer(admission, self.people),
            _GROUPS: GroupServicer(admission, self.groups, self.roles),
            _ROLES: RoleServicer(admission, self.roles),
            _RULES: MappingRuleServicer(self.acting, self.mapping_rules),
            _MEMBERSHIPS: MembershipServicer(self.acting, self._memberships()),
            _SCOPES: ScopeServicer(admission, self._scopes(), attributes),
            _ATTRIBUTES: UserAttributeServicer(admission, attributes),
            _POLICIES: PasswordPolicyServicer(ground.tenants, admission, self.policies),
            _SESSIONS: self._session_administration(admission),
            _CONSENTS: ConsentServicer(
                admission,
                ConsentAdministration(
                    presence.consents,
                    ground.clients,
                    codes=UnredeemedCodes(ground.store),
                    token_sets=presence.token_sets,
                    events=ground.events,
                ),
            ),
            _DEVICES: DeviceListServicer(
                admission,
                DeviceAdministration(ground.store.of(DEVICES), ground.store.of(TOKEN_SETS), ground.events),
            ),
        }

    def loops(self) -> Iterator[Coroutine[None, None, None]]:
        """Background loops that run while the provider runs."""
        ground = self._ground
        yield AccountUpkeep(
            ground.tenants,
            self._users,
            removal=self.people,
            settings=ground.store.of(TENANTS),
            leadership=Leadership(PURPOSE, ground.store, ground.clock, randomness=ground.randomness),
            events=ground.events,
            clock=ground.clock,
            config=ground.config.users,
        ).run()

    def _user_administration(self) -> UserAdministration:
        ground = self._ground
        return UserAdministration(
            users=self._users,
            devices=ground.store.of(DEVICES),
            provider_links=ground.store.of(PROVIDER_LINKS),
            consents=self._presence.consents,
            passkeys=Passkeys(ground.store.of(PASSKEYS)),
            places=self._noticing.places,
            welcome=self._welcome,
            one_time_codes=CodeFactorRecords(ground.store),
            images=ground.images,
            roles=self.roles,
            groups=self.groups,
            administrators=self.administrators,
            version=ground.directory_version,
            choosing=self.choosing,
            reserved_usernames=ground.config.users.preferred_username_blacklist,
            signing_out=self._presence.signing_out,
            events=ground.events,
            clock=ground.clock,
            randomness=ground.randomness,
        )

    def _accounts(self, admission: Admission) -> AccountServicer:
        ground, presence = self._ground, self._presence
        proofs = Proofs(
            presence.users,
            ground.passwords,
            factors=self._factors,
            shown_factors=ShownFactors(presence.users, presence.sessions),
            protection=presence.protection,
            tokens=self.modification_tokens,
        )
        addresses = AddressChanges(
            users=self._users,
            links=ground.links,
            mail=ground.mail,
            revocations=self._noticing.revocations,
            version=ground.directory_version,
            events=ground.events,
            clock=ground.clock,
        )
        account = OwnAccount(
            self.people,
            proofs,
            addresses=addresses,
            sessions=presence.sessions,
            config=ground.config.users,
        )
        return AccountServicer(
            ground.tenants, admission, account, addresses=addresses, proofs=proofs, clock=ground.clock
        )

    def _groups(self) -> Labels[Group]:
        ground = self._ground
        return Labels(
            "group",
            ground.store.of(GROUPS),
            checked=names.group,
            built_in=(),
            holders=AllOf(holders_of_groups(ground.store), DefaultGroups(ground.store)),
            administrators=self.administrators,
            version=ground.directory_version,
            events=ground.events,
            randomness=ground.randomness,
        )

    def _roles(self) -> Labels[Role]:
        ground = self._ground
        return Labels(
            "role",
            ground.store.of(ROLES),
            checked=names.label,
            built_in=ADMINISTRATOR_ROLES,
            holders=holders_of_roles(ground.store),
            administrators=self.administrators,
            version=ground.directory_version,
            events=ground.events,
            randomness=ground.randomness,
        )

    def _mapping_rules(self) -> MappingRules:
        ground = self._ground
        return MappingRules(
            records=ground.store.of(MAPPING_RULES), version=ground.directory_version, events=ground.events
        )

    def _memberships(self) -> Memberships:
        ground = self._ground
        return Memberships(
            ground.store,
            ground.tenants,
            roles=self.roles,
            groups=self.groups,
            administrators=self.administrators,
            version=ground.directory_version,
            events=ground.events,
        )

    def _scopes(self) -> Labels[ScopeDefinition]:
        ground = self._ground
        return Labels(
            "scope",
            ground.store.of(SCOPE_DEFINITIONS),
            checked=names.label,
            built_in=BUILT_IN_SCOPES,
            holders=RecordsWith(ground.store.of(CLIENTS), "oauth_scopes", "default_scopes"),
            administrators=self.administrators,
            version=ground.directory_version,
            events=ground.events,
            randomness=ground.randomness,
        )

    def _attributes(self) -> UserAttributes:
        ground = self._ground
        return UserAttributes(
            attributes=ground.store.of(USER_ATTRIBUTES),
            users=self._users,
            holders=(
                PeopleWithAttributes(self._users),
                ScopesWithAttributes(ground.store.of(SCOPE_DEFINITIONS)),
            ),
            administrators=self.administrators,
            events=ground.events,
            clock=ground.clock,
        )

    def _session_administration(self, admission: Admission) -> SessionAdministrationServicer:
        ground = self._ground
        administration = SessionAdministration(
            ground.store.of(SESSIONS),
            self._users,
            ending=self._presence.ending,
            signing_out=self._presence.signing_out,
            events=ground.events,
        )
        return SessionAdministrationServicer(
            admission, administration, idle=ground.config.lifetimes.session_timeout
        )
