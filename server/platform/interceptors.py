"""Checks that every call passes before its servicer, on every channel.

request id → kind of caller (401) → authenticate (401) → mode (501) → tenant (400, 403) → permission (403) →
bounds (400)
"""

import re
import secrets
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NoReturn

import protovalidate

from server.platform.call import (
    ANY_RESOURCE,
    MAX_IDEMPOTENCY_KEY,
    REQUEST_ID,
    TENANT,
    Call,
    Grant,
    TenantId,
)
from server.platform.caller import check_caller
from server.platform.dispatch import Interceptor
from server.platform.errors import InvalidArgument, ModeNotSupported, PermissionDenied, TenantMismatch
from server.platform.policy import AuthorizationRule, Mode

# Camunda's clients send this tenant id if none is configured.
DEFAULT_TENANT_ALIAS = "<default>"

MAX_REPORTED_VIOLATIONS = 10
REQUEST_ID_OCTETS = 16


def interceptors(mode: Mode, authenticate: Interceptor) -> Sequence[Interceptor]:
    """Return all interceptors in their order."""
    return (
        identify_request,
        check_caller,
        authenticate,
        ModeGate(mode),
        select_tenant,
        check_permission,
        check_bounds,
    )


def identify_request(call: Call) -> None:
    call.request_id = call.metadata.get(REQUEST_ID) or secrets.token_hex(REQUEST_ID_OCTETS)


class ModeGate:
    """Refuses RPCs that the current mode does not offer."""

    def __init__(self, mode: Mode) -> None:
        self._mode = mode

    def __call__(self, call: Call) -> None:
        if self._mode not in call.policy.modes:
            detail = f"{call.policy.operation} is not offered in {self._mode} mode"
            raise ModeNotSupported(detail, mode=self._mode)


def select_tenant(call: Call) -> None:
    """Set the tenant of the call: a caller with several tenants must name one on every call."""
    if not call.policy.needs_principal:
        return
    call.tenant_id = _selected(call)
    for named in _named_tenants(call):
        if named not in (call.tenant_id, _alias(call)):
            raise TenantMismatch(f"tenant '{named}' is not the caller's tenant '{call.tenant_id}'")


def _selected(call: Call) -> TenantId:
    own = call.principal.tenant_ids
    named = call.metadata.get(TENANT)
    if named == "":
        raise InvalidArgument("expected x-tenant-id to have at least 1 character")
    if named is None or named == _alias(call):
        return _only(own)
    if named not in own:
        raise TenantMismatch(f"the caller may not act in tenant '{named}'")
    return TenantId(named)


def _only(own: frozenset[TenantId]) -> TenantId:
    if len(own) == 1:
        return next(iter(own))
    if not own:
        raise PermissionDenied("the caller may not act in any tenant")
    raise InvalidArgument("expected x-tenant-id: the caller may act in several tenants")


def _alias(call: Call) -> str | None:
    return DEFAULT_TENANT_ALIAS if len(call.principal.tenant_ids) == 1 else None


def _named_tenants(call: Call) -> Iterator[str]:
    for field in call.policy.tenant_fields:
        if field.is_repeated:
            yield from getattr(call.request, field.name)
        elif call.request.HasField(field.name):
            yield getattr(call.request, field.name)


def check_permission(call: Call) -> None:
    """Require the RPC's permission, or an authorization for the resource in its place."""
    permission = call.policy.permission
    if not permission or permission in call.principal.permissions:
        return
    if not is_authorized(call):
        raise _lacking(call)


def check_permission_before_body(call: Call) -> None:
    """Check the permission of a request whose body was not read yet.

    If an authorization depends on a resource that the body names, an authorization for any resource of the
    type suffices. `check_permission` decides once the body was read.
    """
    permission, grants = call.policy.permission, _counting_grants(call)
    if not permission or permission in call.principal.permissions:
        return
    read = {field.name for field, _ in call.request.ListFields()}
    if not any(
        _may_meet(rule, call, grants, is_read=rule.resource_field in read)
        for rule in call.policy.authorizations
    ):
        raise _lacking(call)


def _may_meet(rule: AuthorizationRule, call: Call, grants: AbstractSet[Grant], *, is_read: bool) -> bool:
    if is_read or not rule.resource_field:
        return bool(grants) and _meets(rule, call)
    found = {(grant.resource_type, grant.permission_type) for grant in grants}
    return all((rule.resource_type, each) in found for each in rule.permission_types)


def _lacking(call: Call) -> PermissionDenied:
    permission = call.policy.permission
    detail = f"{call.policy.operation} needs permission '{permission}'"
    return PermissionDenied(detail, permission=permission)


def is_authorized(call: Call) -> bool:
    """Whether an authorization of the caller opens the operation, regardless of the caller's permissions."""
    return bool(_counting_grants(call)) and any(_meets(rule, call) for rule in call.policy.authorizations)


def _counting_grants(call: Call) -> AbstractSet[Grant]:
    """Return the caller's grants, or none if the scopes of its token do not include the permission."""
    principal = call.principal
    if principal.oauth_scopes is not None and call.policy.permission not in principal.oauth_scopes:
        return frozenset()
    return principal.grants


def _meets(rule: AuthorizationRule, call: Call) -> bool:
    grants, named = call.principal.grants, ""
    if rule.resource_field:
        named = str(getattr(call.request, rule.resource_field))
    return all(
        Grant(rule.resource_type, permission_type, ANY_RESOURCE) in grants
        or (named and Grant(rule.resource_type, permission_type, named) in grants)
        for permission_type in rule.permission_types
    )


_validator = protovalidate.Validator()

# Request fields that hold the whole document that a client of the OpenID provider sent.
_CARRIERS = frozenset({"fields", "settings"})


def check_bounds(call: Call) -> None:
    """Validate the request by the contract's buf.validate rules, and the length of the idempotency key."""
    key = call.idempotency_key
    if key is not None and not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY:
        raise InvalidArgument(f"expected idempotency-key to have 1 to {MAX_IDEMPOTENCY_KEY} characters")
    try:
        _validator.validate(call.request)
    except protovalidate.ValidationError as error:
        _refuse(call, error)


def _refuse(call: Call, error: protovalidate.ValidationError) -> NoReturn:
    request, path_of = call.request, _path if call.policy.has_route else _member
    violations = list(error.violations)[:MAX_REPORTED_VIOLATIONS]
    named = [(path_of(violation), str(violation.proto.message)) for violation in violations]
    detail = "; ".join(f"{path}: {message}" if path else message for path, message in named)
    raise InvalidArgument(detail or f"malformed {request.DESCRIPTOR.name}", field=named[0][0]) from error


def _path(violation: protovalidate.Violation) -> str:
    return ".".join(map(camel_case, _names(violation)))


def _member(violation: protovalidate.Violation) -> str:
    """Name a field as the document of the OpenID provider does, without the message that holds the document."""
    names = _names(violation)
    return ".".join(names[1:] if len(names) > 1 and names[0] in _CARRIERS else names)


def _names(violation: protovalidate.Violation) -> list[str]:
    field = violation.proto.field
    return [str(element.field_name) for element in field.elements] if field else []


def camel_case(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
