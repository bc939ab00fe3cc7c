"""LdapDirectoryService."""

from collections.abc import Iterable

from gnomon.identity.v1 import ldap_directory_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.records import fields_of, message_of
from identity.administration.ldap_directories import LdapAdministration
from identity.authentication.ldap.trial import TrialResult
from identity.directory.tenants.ldap_directory import LdapDirectory, LdapFields, LdapGroupMapping
from server.platform.call import Call

_NAMES = {
    "start_tls": "starts_tls",
    "auto_onboarding": "onboards",
    "auto_link": "links",
    "timeout": "timeout_secs",
}


class LdapDirectoryServicer:
    def __init__(self, admission: Admission, administration: LdapAdministration) -> None:
        self._admission = admission
        self._administration = administration

    async def list_ldap_directories(
        self, request: pb.ListLdapDirectoriesRequest, _call: Call
    ) -> pb.ListLdapDirectoriesResponse:
        tenant, _ = await self._admission.of(request)
        found = await self._administration.all(tenant)
        return pb.ListLdapDirectoriesResponse(directories=map(_message, found))

    async def create_ldap_directory(
        self, request: pb.CreateLdapDirectoryRequest, _call: Call
    ) -> pb.CreateLdapDirectoryResponse:
        tenant, actor = await self._admission.of(request)
        created = await self._administration.create(
            tenant, _fields(request.fields), request.bind_password, actor=actor
        )
        return pb.CreateLdapDirectoryResponse(directory=_message(created))

    async def update_ldap_directory(
        self, request: pb.UpdateLdapDirectoryRequest, _call: Call
    ) -> pb.UpdateLdapDirectoryResponse:
        tenant, actor = await self._admission.of(request)
        changed = await self._administration.change(
            tenant,
            request.directory_id,
            _fields(request.fields),
            bind_password=request.bind_password,
            actor=actor,
        )
        return pb.UpdateLdapDirectoryResponse(directory=_message(changed))

    async def delete_ldap_directory(
        self, request: pb.DeleteLdapDirectoryRequest, _call: Call
    ) -> pb.DeleteLdapDirectoryResponse:
        tenant, actor = await self._admission.of(request)
        await self._administration.delete(tenant, request.directory_id, actor=actor)
        return pb.DeleteLdapDirectoryResponse()

    async def try_ldap_directory(
        self, request: pb.TryLdapDirectoryRequest, _call: Call
    ) -> pb.TryLdapDirectoryResponse:
        tenant, _ = await self._admission.of(request)
        return _trial(await self._administration.test(tenant, request.directory_id, request.name))

    async def list_ldap_directory_users(
        self, request: pb.ListLdapDirectoryUsersRequest, _call: Call
    ) -> pb.ListLdapDirectoryUsersResponse:
        tenant, _ = await self._admission.of(request)
        linked = await self._administration.linked(tenant, request.directory_id)
        users = [pb.LdapDirectoryUser(id=user.id, email=user.email) for user in linked]
        return pb.ListLdapDirectoryUsersResponse(users=users)


def _fields(message: pb.LdapDirectoryFields) -> LdapFields:
    """Filters, names of attributes and numbers that are not set have their defaults."""
    found = fields_of(message, LdapFields, _NAMES, without=["mappings"])
    unset = {name for name in _WITH_DEFAULT if not found[name]}
    return LdapFields(
        **{name: value for name, value in found.items() if name not in unset},
        mappings=tuple(map(_mapping, message.mappings)),
    )


_WITH_DEFAULT = (
    *("user_filter", "group_filter", "timeout_secs", "pool_size"),
    *("id_attribute", "username_attribute", "email_attribute", "given_name_attribute"),
    *("family_name_attribute", "member_of_attribute", "group_name_attribute"),
)


def _mapping(message: pb.LdapGroupMapping) -> LdapGroupMapping:
    return LdapGroupMapping(
        group=message.group, roles=_distinct(message.roles), groups=_distinct(message.groups)
    )


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _message(directory: LdapDirectory) -> pb.LdapDirectory:
    mappings = [message_of(pb.LdapGroupMapping, mapping) for mapping in directory.fields.mappings]
    fields = message_of(pb.LdapDirectoryFields, directory.fields, _NAMES, mappings=mappings)
    return pb.LdapDirectory(id=directory.id, fields=fields)


def _trial(result: TrialResult) -> pb.TryLdapDirectoryResponse:
    return pb.TryLdapDirectoryResponse(
        servers=[message_of(pb.LdapServerTrial, server) for server in result.servers],
        problem=result.problem,
        user=None if result.person is None else message_of(pb.LdapUser, result.person),
        directory_groups=result.groups,
        roles=result.roles_given,
        groups=result.groups_given,
    )
