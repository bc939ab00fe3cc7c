"""RoleService."""

from collections.abc import Sequence

from gnomon.identity.v1 import role_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS, ADMINISTRATOR_ROLES
from identity.directory.labels import Role
from identity.foundation.continuation import MOST_OF_A_PAGE
from identity.foundation.searches import RecordSearch, word_of, words_of
from identity.foundation.tenants import Tenant
from identity.people.labels import Labels
from identity.people.rpc.labels import OF_SEARCHES, LabelChanges
from server.platform.errors import InvalidArgument

# Begins a continuation token that leads to a built-in role; tokens of records begin with other characters.
_BUILT_IN = "."


class RoleServicer(Operations):
    def __init__(self, admission: Admission, roles: Labels[Role]) -> None:
        self._roles = roles
        changes = LabelChanges(labels=roles, kind=Role, id_field="role_id")
        super().__init__(
            admission,
            {
                pb.ListRolesRequest: self._page,
                pb.GetRoleRequest: self._get,
                pb.CreateRoleRequest: changes.create,
                pb.UpdateRoleRequest: changes.update,
                pb.DeleteRoleRequest: named(roles.remove, label_id="role_id"),
            },
            names=OF_SEARCHES,
        )

    async def _page(
        self, tenant: Tenant, wanted: RecordSearch, page_size: int, continuation_token: str
    ) -> tuple[Sequence[pb.Role | Role], str]:
        """Return a page of the list that begins with those of the built-in roles that the search finds."""
        begin = _position(continuation_token)
        if begin is None:
            return await self._roles.page(tenant, wanted, page_size, continuation_token)
        most = page_size or MOST_OF_A_PAGE
        built_in = [_built_in(name) for name in sorted(ADMINISTRATOR_ROLES) if _is_found(name, wanted)]
        shown = built_in[begin : begin + most]
        if len(shown) == most:
            return shown, f"{_BUILT_IN}{begin + most}"
        rest, following = await self._roles.page(tenant, wanted, most - len(shown), "")
        return [*shown, *rest], following

    async def _get(self, tenant: Tenant, role_id: str) -> pb.Role | Role:
        return (
            _built_in(role_id) if role_id in ADMINISTRATOR_ROLES else await self._roles.get(tenant, role_id)
        )


def _built_in(name: str) -> pb.Role:
    return pb.Role(id=name, name=name, permissions=ADMINISTRATOR_PERMISSIONS)


def _is_found(name: str, wanted: RecordSearch) -> bool:
    words = words_of(name)
    return all(any(word.startswith(word_of(text)) for word in words) for text in wanted.text.split())


def _position(token: str) -> int | None:
    """Return how many built-in roles the pages before have, None after all of them; raises InvalidArgument."""
    if not token:
        return 0
    if not token.startswith(_BUILT_IN):
        return None
    text = token.removeprefix(_BUILT_IN)
    if not text.isascii() or not text.isdecimal() or int(text) > len(ADMINISTRATOR_ROLES):
        raise InvalidArgument("continuation_token: expected that of a previous page")
    return int(text)
