"""UserTransferService."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from gnomon.identity.v1 import user_transfer_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Right
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.authentication.rpc.continuation import id_of, token_of
from identity.foundation.tenants import Tenant, Tenants
from identity.people.rpc.people import user_message, values_of
from identity.people.transfer.account import ImportedGenerator, ImportedLink, ImportedUser
from identity.people.transfer.exports import ExportedUser, UserExports
from identity.people.transfer.imports import ImportOptions, Outcome, Result, UserImports
from identity.people.user_changes import UserChange
from server.platform.errors import PermissionDenied

_MOST_OF_A_PAGE = 500
_LABELS = (AdministrationArea.GROUPS, AdministrationArea.ROLES, AdministrationArea.USER_ATTRIBUTES)
_OUTCOMES = {
    Outcome.CREATED: pb.IMPORT_OUTCOME_CREATED,
    Outcome.UNCHANGED: pb.IMPORT_OUTCOME_UNCHANGED,
    Outcome.REFUSED: pb.IMPORT_OUTCOME_REFUSED,
}


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
            shows={Result: _result},
        )

    async def _import(self, tenant: Tenant, request: pb.ImportUsersRequest, actor: Actor) -> Sequence[Result]:
        if request.creates_labels:
            for area in _LABELS:
                await self._admission.of(request, area, Right.CREATE)
        options = ImportOptions(
            is_dry_run=request.dry_run,
            creates_labels=request.creates_labels,
            allows_administrators=request.allows_administrators,
        )
        return await self._imports.run(tenant, [_imported(user) for user in request.users], actor, options)

    async def _export(
        self, tenant: Tenant, request: pb.ExportUsersRequest, actor: Actor
    ) -> tuple[Sequence[pb.TransferredUser], str]:
        after, with_hash = id_of(request.continuation_token), request.with_password_hashes
        if with_hash:
            await self._expect_of_deployment(request, actor)
            # One event for each page, because a caller can begin with any of them.
            await self._exports.tell_of_hashes(tenant, actor)
        most = request.page_size or _MOST_OF_A_PAGE
        # One more than shown, to know whether there is a next page.
        found = await self._exports.page(tenant, after=after, most=most + 1)
        users = [_message(each, with_hash=with_hash) for each in found[:most]]
        return users, token_of(found[most - 1].user.id) if len(found) > most else ""

    async def _expect_of_deployment(self, request: pb.ExportUsersRequest, actor: Actor) -> None:
        """Raise PermissionDenied unless the caller administers the default tenant, and so the whole deployment."""
        if actor.is_api_key:
            raise PermissionDenied("an API key cannot get password hashes")
        whole = pb.ExportUsersRequest(tenant_id=self._tenants.default.tenant_id, caller=request.caller)
        await self._admission.of(whole, AdministrationArea.USERS, Right.UPDATE)


def _imported(user: pb.TransferredUser) -> ImportedUser:
    values = user.user_values
    return ImportedUser(
        change=UserChange(
            email=user.email,
            preferred_username=values.preferred_username if values.HasField("preferred_username") else None,
            given_name=user.given_name,
            family_name=user.family_name,
            language=user.language or None,
            values=values_of(values),
            roles=tuple(user.roles),
            groups=tuple(user.groups),
            is_enabled=user.enabled if user.HasField("enabled") else None,
            is_email_verified=user.email_verified,
        ),
        password_hash=user.password_hash,
        is_password_expired=user.password_expired,
        attributes=user.attributes,
        links=tuple(ImportedLink(link.provider, link.subject) for link in user.links),
        generators=tuple(ImportedGenerator(each.name, each.secret) for each in user.generators),
        created_at=datetime.fromtimestamp(user.created_at, UTC) if user.created_at else None,
    )


def _result(result: Result) -> pb.ImportResult:
    return pb.ImportResult(outcome=_OUTCOMES[result.outcome], user_id=result.user_id, reason=result.reason)


def _message(exported: ExportedUser, *, with_hash: bool) -> pb.TransferredUser:
    user, shown = exported.user, user_message(exported.user)
    attributes = {name: msgspec.Raw(text.encode()) for name, text in user.attributes.items()}
    return pb.TransferredUser(
        email=user.email,
        given_name=user.given_name,
        family_name=user.family_name,
        language=user.language,
        enabled=user.is_enabled,
        email_verified=user.is_email_verified,
        password_hash=user.password_hash if with_hash else "",
        password_expired=exported.is_password_expired,
        groups=user.groups,
        roles=user.roles,
        user_values=shown.user_values,
        attributes=msgspec.json.encode(attributes).decode() if attributes else "",
        links=[pb.TransferredLink(provider=link.provider, subject=link.subject) for link in exported.links],
        created_at=shown.created_at,
    )
