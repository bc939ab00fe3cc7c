"""Cluster variables: the first partition changes them and sends each change to all others."""

from server.engine.answers import DONE, ChangedClusterVariable, Done
from server.engine.broadcasts import tell_conditions
from server.engine.cluster_variable_commands import (
    AdoptClusterVariable,
    AdoptClusterVariableDeletion,
    CreateClusterVariable,
    DeleteClusterVariable,
    UpdateClusterVariable,
)
from server.engine.cluster_variable_events import (
    ClusterVariableAdopted,
    ClusterVariableDeleted,
    ClusterVariableDeletionAdopted,
    ClusterVariableSet,
)
from server.engine.rejection import Rejected, RejectionType
from server.engine.sent import EVERY_OTHER, CommandSent
from server.engine.signals import ClusterVariableChange
from server.engine.step import Step


def create(command: CreateClusterVariable, step: Step) -> ChangedClusterVariable:
    _expect_room(command, step)
    owner = None if command.is_global else command.tenant_id
    known = step.state.cluster_variables
    if known.get(owner, command.name) is not None:
        raise Rejected(RejectionType.ALREADY_EXISTS, f"there is a {_kind(command)} '{command.name}' already")
    most = step.state.limits.cluster_variables
    if known.count(owner) >= most:
        raise Rejected(RejectionType.INVALID_STATE, f"expected at most {most} {_kind(command)}s")
    variable = ClusterVariableSet(step.next_key(), owner, command.name, command.value)
    return _set(command.tenant_id, variable, None, step)


def update(command: UpdateClusterVariable, step: Step) -> ChangedClusterVariable:
    _expect_room(command, step)
    before = _found(command, step)
    variable = ClusterVariableSet(
        before.key, before.tenant_id, before.name, command.value, before.revision + 1
    )
    return _set(command.tenant_id, variable, before, step)


def delete(command: DeleteClusterVariable, step: Step) -> ChangedClusterVariable:
    _expect_room(command, step)
    variable = _found(command, step)
    step.emit(ClusterVariableDeleted(variable))
    step.emit(CommandSent(EVERY_OTHER, AdoptClusterVariableDeletion(command.tenant_id, variable)))
    _tell(step, command.tenant_id, variable)
    return ChangedClusterVariable(variable.key)


def adopt(command: AdoptClusterVariable, step: Step) -> Done:
    """Set a variable; does nothing when this partition already has this value or a later one."""
    variable = command.variable
    known = step.state.cluster_variables.get(variable.tenant_id, variable.name)
    if known is None or known.version < variable.version:
        step.emit(ClusterVariableAdopted(variable))
        _tell(step, command.tenant_id, variable, is_created=variable.revision == 1)
    return DONE


def adopt_deletion(command: AdoptClusterVariableDeletion, step: Step) -> Done:
    """Delete a variable; does nothing when it is deleted already, even if a new variable has its name."""
    variable = command.variable
    known = step.state.cluster_variables.get(variable.tenant_id, variable.name)
    if known is not None and known.key == variable.key:
        step.emit(ClusterVariableDeletionAdopted(known))
        _tell(step, command.tenant_id, known)
    return DONE


def _found(command: UpdateClusterVariable | DeleteClusterVariable, step: Step) -> ClusterVariableSet:
    owner = None if command.is_global else command.tenant_id
    variable = step.state.cluster_variables.get(owner, command.name)
    if variable is None:
        raise Rejected(RejectionType.NOT_FOUND, f"there is no {_kind(command)} '{command.name}'")
    return variable


def _set(
    tenant_id: str, variable: ClusterVariableSet, before: ClusterVariableSet | None, step: Step
) -> ChangedClusterVariable:
    """Set a variable; raises Rejected when all variables of the owner together become too large."""
    most = step.state.limits.cluster_variable_characters
    size = step.state.cluster_variables.size(variable.tenant_id) + len(variable.value)
    size += len(variable.name) if before is None else -len(before.value)
    if size > most and (before is None or len(variable.value) > len(before.value)):
        raise Rejected(
            RejectionType.INVALID_ARGUMENT,
            f"expected at most {most} characters in all cluster variables of one scope, found {size}",
        )
    step.emit(variable)
    step.emit(CommandSent(EVERY_OTHER, AdoptClusterVariable(tenant_id, variable)))
    _tell(step, tenant_id, variable, is_created=before is None)
    return ChangedClusterVariable(variable.key)


def _tell(step: Step, tenant_id: str, variable: ClusterVariableSet, *, is_created: bool = False) -> None:
    """Evaluate the conditions that read the variable again."""
    tell_conditions(
        step, tenant_id, ClusterVariableChange(variable.tenant_id, variable.name, is_created=is_created)
    )


def _expect_room(
    command: CreateClusterVariable | UpdateClusterVariable | DeleteClusterVariable, step: Step
) -> None:
    """Raises Rejected while the conditions of too many earlier changes are still being evaluated."""
    most = step.state.limits.tenant_broadcasts
    if step.state.signals.counts[command.tenant_id] >= most:
        raise Rejected(RejectionType.BUSY, f"{most} broadcasts of the tenant are not finished")


def _kind(command: CreateClusterVariable | UpdateClusterVariable | DeleteClusterVariable) -> str:
    return "global cluster variable" if command.is_global else "cluster variable of the tenant"
