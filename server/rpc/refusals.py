"""Commands that are refused before a partition has them: they stand in the audit log all the same.

An entry belongs to a tenant. Who may act in several and was refused before one of them was chosen leaves none.
"""

from collections.abc import Mapping
from typing import Protocol

from server.engine import commands
from server.partition.audit import AUDITED, Audited, refused_entry
from server.partition.origin import Origin
from server.platform.call import Call, TenantId
from server.platform.clock import Clock, to_the_millisecond
from server.platform.errors import ServiceError
from server.rpc.origin import operation_reference_of
from server.store.entities import AuditEntry

AUDITED_RPCS: Mapping[str, Audited] = {
    "CreateDeployment": AUDITED[commands.DeployResources],
    "EvaluateDecision": AUDITED[commands.EvaluateDecision],
    # process instances
    "CreateProcessInstance": AUDITED[commands.CreateProcessInstance],
    "CancelProcessInstance": AUDITED[commands.CancelProcessInstance],
    "AcceptCancellation": AUDITED[commands.CancelProcessInstance],
    "MigrateProcessInstance": AUDITED[commands.MigrateProcessInstance],
    "AcceptMigration": AUDITED[commands.MigrateProcessInstance],
    # jobs
    "CompleteJob": AUDITED[commands.CompleteJob],
    "FailJob": AUDITED[commands.FailJob],
    "ThrowJobError": AUDITED[commands.ThrowJobError],
    "UpdateJob": AUDITED[commands.UpdateJob],
    # incidents
    "ResolveIncident": AUDITED[commands.ResolveIncident],
}


class AuditTrail(Protocol):
    """Takes entries to the audit log, sooner or later."""

    def note(self, entry: AuditEntry) -> None:
        """Never waits and never fails."""
        ...


class Refusals:
    """What a dispatcher tells of refused commands, as entries of the audit log."""

    def __init__(self, trail: AuditTrail, clock: Clock) -> None:
        self._trail = trail
        self._clock = clock

    def __call__(self, call: Call, refusal: ServiceError) -> None:
        audited, tenant_id = AUDITED_RPCS.get(call.policy.name), _tenant(call)
        if audited is None or tenant_id is None:
            return
        origin = Origin(
            tenant_id=tenant_id,
            actor_id=call.principal.subject,
            request_id=call.request_id,
            operation_reference=operation_reference_of(call.request),
        )
        now = to_the_millisecond(self._clock.now())
        self._trail.note(refused_entry(audited, call.request, origin, refusal, now))


def _tenant(call: Call) -> TenantId | None:
    """The tenant that was chosen, or the only one that the caller has."""
    own = call.principal.tenant_ids
    return call.tenant_id or (next(iter(own)) if len(own) == 1 else None)
