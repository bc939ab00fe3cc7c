"""UserTransferService."""

from collections.abc import Sequence

import msgspec

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of, record_of
from identity.foundation.continuation import id_of, page_of
from identity.foundation.tenants import Tenant, Tenants
from identity.people.rpc.people import user_message, values_of
from identity.people.transfer.account import ImportedUser
from identity.people.transfer.exports import ExportedUser, UserExports
from identity.people.transfer.imports import ImportOptions, Result, UserImports
from identity.people.user_changes import UserChange
from server.platform.errors import PermissionDenied

_MOST_OF_A_PAGE = 500
_LABELS = (AdministrationArea.GROUPS, AdministrationArea.ROLES, AdministrationArea.USER_ATTRIBUTES)
_OF_IMPORT = ("password_hash", "password_expired", "attributes", "links", "generators", "created_at")
_OF_ACCOUNT = (
    "email",
    "given_name",
    "family_name",
    "language",
    "enabled",
    "email_verified",
    "groups",
    "roles",
)


class UserTransferServicer(Operations):
    def __init__(
        self, tenants: Tenants, admission: Admission, imports: UserImports, exports: UserExports
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._imports = imports
        self._exports = exports
        super().__init__(
            admission,
            {
                pb.ImportUsersRequest: self._import,
                pb.ExportUsersRequest: self._export,
            },
            shows={ExportedUser: _message},
        )

    async def _import(self, tenant: Tenant, request: pb.ImportUsersRequest, actor: Actor) -> Sequence[Result]:
        if request.creates_labels:
            for area in _LABELS:
                await self._admission.of(request, area, Right.CREATE)
        options = record_of(ImportOptions, request, without=("tenant_id", "caller", "users"))
        return await self._imports.run(tenant, [_imported(user) for user in request.users], actor, options)

    async def _export(
        self, tenant: Tenant, request: pb.ExportUsersRequest, actor: Actor
    ) -> tuple[Sequence[ExportedUser], str]:
        after, most = id_of(request.continuation_token), request.page_size or _MOST_OF_A_PAGE
        if request.with_password_hashes:
            await self._expect_of_deployment(request, actor)
        found = await self._exports.page(
            tenant, actor, after=after, most=most + 1, has_hashes=request.with_password_hashes
        )
        return page_of(found, most, lambda exported: exported.user.id)

    async def _expect_of_deployment(self, request: pb.ExportUsersRequest, actor: Actor) -> None:
        """Raise PermissionDenied unless the caller administers the default tenant, and so the whole deployment."""
        if actor.is_api_key:
            raise PermissionDenied("an API key cannot get password hashes")
        whole = pb.ExportUsersRequest(tenant_id=self._tenants.default.tenant_id, caller=request.caller)
        await self._admission.of(whole, AdministrationArea.USERS, Right.UPDATE)


def _imported(user: pb.TransferredUser) -> ImportedUser:
    values = user.user_values
    change = record_of(
        UserChange,
        user,
        without=(*_OF_IMPORT, "user_values"),
        language=user.language or None,
        preferred_username=values.preferred_username if values.HasField("preferred_username") else None,
        values=values_of(values),
    )
    return record_of(ImportedUser, user, without=(*_OF_ACCOUNT, "user_values"), change=change)


def _message(exported: ExportedUser) -> pb.TransferredUser:
    user, shown = exported.user, user_message(exported.user)
    attributes = {name: msgspec.Raw(text.encode()) for name, text in user.attributes.items()}
    return message_of(
        pb.TransferredUser,
        user,
        password_hash=exported.password_hash,
        password_expired=exported.is_password_expired,
        user_values=shown.user_values,
        attributes=msgspec.json.encode(attributes).decode() if attributes else "",
        links=[message_of(pb.TransferredLink, link) for link in exported.links],
        generators=[],
    )
