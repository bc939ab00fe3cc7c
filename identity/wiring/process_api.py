"""Composes the directory of the process API."""

from collections.abc import Mapping

from google.protobuf.descriptor import ServiceDescriptor

from gnomon.directory.v1 import (
    authentication_service_pb2,
    authorization_service_pb2,
    group_service_pb2,
    role_service_pb2,
    setup_service_pb2,
    tenant_service_pb2,
    user_service_pb2,
)
from identity.administration.rpc.process_api.authentication import AuthenticationServicer
from identity.administration.rpc.process_api.authorization import AuthorizationServicer
from identity.administration.rpc.process_api.group import GroupServicer
from identity.administration.rpc.process_api.members import Members
from identity.administration.rpc.process_api.role import RoleServicer
from identity.administration.rpc.process_api.setup import SetupServicer
from identity.administration.rpc.process_api.tenant import TenantServicer
from identity.administration.rpc.process_api.user import UserServicer
from identity.administration.tenants.administration import TenantAdministration
from identity.directory.holdings import ADMINISTRATOR_ROLES
from identity.foundation.vocabulary import Permission
from identity.people.first_administrator import FirstAdministrator
from identity.people.users_by_username import UsersByUsername
from identity.wiring.access import UserState
from identity.wiring.dependencies import Dependencies
from identity.wiring.people_administration import PeopleAdministrationWiring

_AUTHENTICATION = authentication_service_pb2.DESCRIPTOR.services_by_name["AuthenticationService"]
_AUTHORIZATIONS = authorization_service_pb2.DESCRIPTOR.services_by_name["AuthorizationService"]
_GROUPS = group_service_pb2.DESCRIPTOR.services_by_name["GroupService"]
_ROLES = role_service_pb2.DESCRIPTOR.services_by_name["RoleService"]
_SETUP = setup_service_pb2.DESCRIPTOR.services_by_name["SetupService"]
_TENANTS = tenant_service_pb2.DESCRIPTOR.services_by_name["TenantService"]
_USERS = user_service_pb2.DESCRIPTOR.services_by_name["UserService"]


def process_api(
    dependencies: Dependencies,
    user_state: UserState,
    people: PeopleAdministrationWiring,
    tenants: TenantAdministration,
) -> Mapping[ServiceDescriptor, object]:
    """Return the servicers, which share their records with the administration."""
    api_callers, members = people.api_callers, Members(dependencies.store, people.mapping_rules)
    return {
        _AUTHORIZATIONS: AuthorizationServicer(api_callers, people.authorizations),
        _GROUPS: GroupServicer(api_callers, people.groups, members),
        _ROLES: RoleServicer(api_callers, people.roles, members),
        _USERS: UserServicer(api_callers, UsersByUsername(people.people, people.administrators)),
        _SETUP: SetupServicer(_first_administrator(dependencies, people)),
        _TENANTS: TenantServicer(api_callers, tenants, members),
        _AUTHENTICATION: AuthenticationServicer(
            dependencies.tenants,
            user_state.users,
            dependencies.clients,
            standings=dependencies.standings,
            administration=tenants,
        ),
    }


def _first_administrator(
    dependencies: Dependencies, people: PeopleAdministrationWiring
) -> FirstAdministrator:
    bootstrap = dependencies.config.bootstrap
    administrators = (
        user.email
        for user in bootstrap.users
        if Permission.IDENTITY_WRITE in user.permissions or not ADMINISTRATOR_ROLES.isdisjoint(user.roles)
    )
    return FirstAdministrator(
        dependencies.store,
        dependencies.tenants,
        people.people,
        is_open=bootstrap.admin_setup,
        emails=(bootstrap.admin_email, *administrators),
        clock=dependencies.clock,
        randomness=dependencies.randomness,
    )
