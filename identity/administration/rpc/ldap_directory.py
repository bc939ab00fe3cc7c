"""LdapDirectoryService."""

from gnomon.identity.v1 import ldap_directory_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import record_of
from identity.administration.ldap_directories import LdapAdministration
from identity.directory.tenants.ldap_directory import LdapFields

_NAMES = {
    "start_tls": "starts_tls",
    "auto_onboarding": "onboards",
    "auto_link": "links",
    "timeout": "timeout_secs",
    "user": "person",
    "directory_groups": "groups",
    "roles": "roles_given",
    "groups": "groups_given",
}
_WITH_DEFAULT = (
    *("user_filter", "group_filter", "timeout", "pool_size"),
    *("id_attribute", "username_attribute", "email_attribute", "given_name_attribute"),
    *("family_name_attribute", "member_of_attribute", "group_name_attribute"),
)


class LdapDirectoryServicer(Operations):
    def __init__(self, admission: Admission, administration: LdapAdministration) -> None:
        super().__init__(
            admission,
            {
                pb.ListLdapDirectoriesRequest: administration.all,
                pb.CreateLdapDirectoryRequest: administration.create,
                pb.UpdateLdapDirectoryRequest: administration.change,
                pb.DeleteLdapDirectoryRequest: administration.delete,
                pb.TryLdapDirectoryRequest: administration.test,
                pb.ListLdapDirectoryUsersRequest: administration.linked,
            },
            names=_NAMES,
            reads={LdapFields: _fields},
        )


def _fields(message: pb.LdapDirectoryFields) -> LdapFields:
    """Filters, names of attributes and numbers that are not set have their defaults."""
    unset = [name for name in _WITH_DEFAULT if not getattr(message, name)]
    return record_of(LdapFields, message, _NAMES, without=unset)
