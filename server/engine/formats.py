"""Format numbers: the layouts of documents, commands and answers that a version reads and writes.

A version reads every format up to its own. The nodes of a deployment write the cluster format: the latest
format that all of them read. A feature is refused until the cluster format has reached the one that
introduces it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from server.bpmn.executable import Element, ElementType, ExecutableProcess
from server.engine import (
    batch_commands,
    cluster_variable_commands,
    commands,
    decision_commands,
    deployment_commands,
    global_task_listener_commands,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    tenant_commands,
    timer_commands,
    user_task_commands,
)
from server.engine.batch_operations import BatchOperationType
from server.engine.rejection import Rejected, RejectionType


class Format(NamedTuple):
    """A format of nodes, with the layouts of `wire` (commands, answers) and `documents` that it stands for."""

    number: int
    wire: int
    documents: int
    says: str


# A change that older versions cannot read is a new row at the end. A released row never changes.
FORMATS = (
    Format(1, wire=1, documents=1, says="releases without format numbers"),
    Format(
        2,
        wire=2,
        documents=2,
        says=(
            "rows and calls carry numbers; sub-processes, events, messages, listeners, user tasks, activities,"
            " signals, start events, call activities, compensation, ad-hoc sub-processes, modifications,"
            " conditions, deletions, audited identity, task listeners, forms, batch operations,"
            " cluster variables, global task listeners, deletions of history, generic resources"
        ),
    ),
    Format(
        3,
        wire=2,
        documents=3,
        says="large values of process instances have pages of their own; removals of tenants, erasures of variables",
    ),
)
OLDEST = FORMATS[0].number
LATEST = FORMATS[-1].number
WIRE_FORMAT = FORMATS[-1].wire


class Feature(StrEnum):
    """A feature that older versions cannot execute."""

    PLAIN_PROCESSES = "processes of tasks, gateways, start and end events, and decisions"
    USER_TASKS = "user tasks"
    TASK_LISTENERS = "listeners of user tasks"
    MESSAGES = "messages"
    SIGNALS = "signals"
    BATCH_OPERATIONS = "batch operations"
    START_EVENTS = "start events that are triggered"
    SCOPES_AND_TIMERS = (
        "sub-processes, events with triggers or results, inclusive gateways, execution listeners"
    )
    CHANGES_FROM_OUTSIDE = "variables set at active process instances"
    MODIFICATIONS = "modifications of process instances, and instructions for new ones"
    DELETIONS = "deletions of process definitions and decisions"
    HISTORY_DELETIONS = "deletions of ended process instances and of decision instances"
    FORMS = "forms"
    GENERIC_RESOURCES = "generic resources"
    CLUSTER_VARIABLES = "cluster variables"
    GLOBAL_TASK_LISTENERS = "global task listeners"
    ACTIVITIES = "scripts in FEEL, called decisions, multi-instance activities"
    CALL_ACTIVITIES = "call activities"
    COMPENSATION = "compensation"
    AD_HOC_SUB_PROCESSES = "ad-hoc sub-processes"
    TENANT_REMOVALS = "removals of tenants from partitions"
    VARIABLE_ERASURES = "erasures of variables"
    AUDITED_IDENTITY = "entries of the audit log about changes of identity"


INTRODUCED_IN: Mapping[Feature, int] = {
    Feature.PLAIN_PROCESSES: 1,
    Feature.SCOPES_AND_TIMERS: 2,
    Feature.USER_TASKS: 2,
    Feature.TASK_LISTENERS: 2,
    Feature.CHANGES_FROM_OUTSIDE: 2,
    Feature.MODIFICATIONS: 2,
    Feature.DELETIONS: 2,
    Feature.HISTORY_DELETIONS: 2,
    Feature.FORMS: 2,
    Feature.GENERIC_RESOURCES: 2,
    Feature.CLUSTER_VARIABLES: 2,
    Feature.GLOBAL_TASK_LISTENERS: 2,
    Feature.ACTIVITIES: 2,
    Feature.CALL_ACTIVITIES: 2,
    Feature.COMPENSATION: 2,
    Feature.AD_HOC_SUB_PROCESSES: 2,
    Feature.AUDITED_IDENTITY: 2,
    Feature.MESSAGES: 2,
    Feature.SIGNALS: 2,
    Feature.START_EVENTS: 2,
    Feature.BATCH_OPERATIONS: 2,
    Feature.TENANT_REMOVALS: 3,
    Feature.VARIABLE_ERASURES: 3,
}

ELEMENT_FEATURES: Mapping[ElementType, Feature] = {
    ElementType.PROCESS: Feature.PLAIN_PROCESSES,
    ElementType.START_EVENT: Feature.PLAIN_PROCESSES,
    ElementType.END_EVENT: Feature.PLAIN_PROCESSES,
    ElementType.SERVICE_TASK: Feature.PLAIN_PROCESSES,
    ElementType.SEND_TASK: Feature.PLAIN_PROCESSES,
    ElementType.SCRIPT_TASK: Feature.PLAIN_PROCESSES,
    ElementType.BUSINESS_RULE_TASK: Feature.PLAIN_PROCESSES,
    ElementType.MANUAL_TASK: Feature.PLAIN_PROCESSES,
    ElementType.TASK: Feature.PLAIN_PROCESSES,
    ElementType.EXCLUSIVE_GATEWAY: Feature.PLAIN_PROCESSES,
    ElementType.PARALLEL_GATEWAY: Feature.PLAIN_PROCESSES,
    ElementType.SEQUENCE_FLOW: Feature.PLAIN_PROCESSES,
    ElementType.USER_TASK: Feature.USER_TASKS,
    ElementType.RECEIVE_TASK: Feature.MESSAGES,
    ElementType.CALL_ACTIVITY: Feature.CALL_ACTIVITIES,
    ElementType.SUB_PROCESS: Feature.SCOPES_AND_TIMERS,
    ElementType.AD_HOC_SUB_PROCESS: Feature.AD_HOC_SUB_PROCESSES,
    ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE: Feature.AD_HOC_SUB_PROCESSES,
    ElementType.MULTI_INSTANCE_BODY: Feature.ACTIVITIES,
    ElementType.INTERMEDIATE_CATCH_EVENT: Feature.SCOPES_AND_TIMERS,
    ElementType.INTERMEDIATE_THROW_EVENT: Feature.SCOPES_AND_TIMERS,
    ElementType.BOUNDARY_EVENT: Feature.SCOPES_AND_TIMERS,
    ElementType.EVENT_SUB_PROCESS: Feature.SCOPES_AND_TIMERS,
    ElementType.INCLUSIVE_GATEWAY: Feature.SCOPES_AND_TIMERS,
    ElementType.EVENT_BASED_GATEWAY: Feature.SCOPES_AND_TIMERS,
}

# The features that an element of any type needs when one of these fields is set.
FIELD_FEATURES: Mapping[str, Feature] = {
    "script": Feature.ACTIVITIES,
    "called_decision": Feature.ACTIVITIES,
    "start_listeners": Feature.SCOPES_AND_TIMERS,
    "end_listeners": Feature.SCOPES_AND_TIMERS,
    "task_listeners": Feature.TASK_LISTENERS,
    "linked_form": Feature.FORMS,
    "linked_resources": Feature.GENERIC_RESOURCES,
    "start_form_id": Feature.FORMS,
    "starts": Feature.START_EVENTS,
    "link": Feature.SCOPES_AND_TIMERS,
    "compensation": Feature.COMPENSATION,
    "result": Feature.SCOPES_AND_TIMERS,
}

COMMAND_FEATURES: Mapping[type[commands.Command], Feature] = {
    deployment_commands.DeployResources: Feature.PLAIN_PROCESSES,
    deployment_commands.AdoptDefinition: Feature.PLAIN_PROCESSES,
    decision_commands.EvaluateDecision: Feature.PLAIN_PROCESSES,
    process_instance_commands.CreateProcessInstance: Feature.PLAIN_PROCESSES,
    process_instance_commands.CancelProcessInstance: Feature.PLAIN_PROCESSES,
    process_instance_commands.DeleteProcessInstance: Feature.HISTORY_DELETIONS,
    decision_commands.DeleteDecisionInstance: Feature.HISTORY_DELETIONS,
    process_instance_commands.ContinueProcessInstance: Feature.PLAIN_PROCESSES,
    migration_commands.MigrateProcessInstance: Feature.PLAIN_PROCESSES,
    job_commands.ActivateJobs: Feature.PLAIN_PROCESSES,
    job_commands.YieldJobs: Feature.PLAIN_PROCESSES,
    job_commands.CompleteJob: Feature.PLAIN_PROCESSES,
    job_commands.FailJob: Feature.PLAIN_PROCESSES,
    job_commands.ThrowJobError: Feature.PLAIN_PROCESSES,
    job_commands.UpdateJob: Feature.PLAIN_PROCESSES,
    job_commands.TimeOutJob: Feature.PLAIN_PROCESSES,
    job_commands.EndJobBackOff: Feature.PLAIN_PROCESSES,
    process_instance_commands.ResolveIncident: Feature.PLAIN_PROCESSES,
    timer_commands.TriggerTimer: Feature.SCOPES_AND_TIMERS,
    # Embedded mode alone has it, in one process: no older program reads it.
    timer_commands.FireTimer: Feature.SCOPES_AND_TIMERS,
    deployment_commands.DeleteResource: Feature.DELETIONS,
    deployment_commands.AdoptDeletion: Feature.DELETIONS,
    cluster_variable_commands.CreateClusterVariable: Feature.CLUSTER_VARIABLES,
    cluster_variable_commands.UpdateClusterVariable: Feature.CLUSTER_VARIABLES,
    cluster_variable_commands.DeleteClusterVariable: Feature.CLUSTER_VARIABLES,
    cluster_variable_commands.AdoptClusterVariable: Feature.CLUSTER_VARIABLES,
    cluster_variable_commands.AdoptClusterVariableDeletion: Feature.CLUSTER_VARIABLES,
    global_task_listener_commands.CreateGlobalTaskListener: Feature.GLOBAL_TASK_LISTENERS,
    global_task_listener_commands.UpdateGlobalTaskListener: Feature.GLOBAL_TASK_LISTENERS,
    global_task_listener_commands.DeleteGlobalTaskListener: Feature.GLOBAL_TASK_LISTENERS,
    global_task_listener_commands.AdoptGlobalTaskListener: Feature.GLOBAL_TASK_LISTENERS,
    global_task_listener_commands.AdoptGlobalTaskListenerDeletion: Feature.GLOBAL_TASK_LISTENERS,
    modification_commands.ModifyProcessInstance: Feature.MODIFICATIONS,
    process_instance_commands.ActivateAdHocSubProcessActivities: Feature.AD_HOC_SUB_PROCESSES,
    process_instance_commands.SetVariables: Feature.CHANGES_FROM_OUTSIDE,
    user_task_commands.AssignUserTask: Feature.USER_TASKS,
    user_task_commands.UnassignUserTask: Feature.USER_TASKS,
    user_task_commands.UpdateUserTask: Feature.USER_TASKS,
    user_task_commands.CompleteUserTask: Feature.USER_TASKS,
    message_commands.PublishMessage: Feature.MESSAGES,
    message_commands.CorrelateMessage: Feature.MESSAGES,
    message_commands.ContinueMessage: Feature.MESSAGES,
    message_commands.ExpireMessage: Feature.MESSAGES,
    message_commands.OpenMessageSubscription: Feature.MESSAGES,
    message_commands.ConfirmMessageSubscription: Feature.MESSAGES,
    message_commands.CloseMessageSubscription: Feature.MESSAGES,
    message_commands.DeliverMessage: Feature.MESSAGES,
    message_commands.SettleMessage: Feature.MESSAGES,
    timer_commands.SetStartTimers: Feature.START_EVENTS,
    timer_commands.TriggerStartTimer: Feature.START_EVENTS,
    message_commands.BeginNext: Feature.START_EVENTS,
    signal_commands.EvaluateConditionals: Feature.START_EVENTS,
    signal_commands.BroadcastSignal: Feature.SIGNALS,
    signal_commands.ReceiveSignal: Feature.SIGNALS,
    signal_commands.ContinueBroadcast: Feature.SIGNALS,
    tenant_commands.MarkTenant: Feature.TENANT_REMOVALS,
    tenant_commands.PurgeTenant: Feature.TENANT_REMOVALS,
    tenant_commands.ReleaseTenant: Feature.TENANT_REMOVALS,
    batch_commands.CreateBatchOperation: Feature.BATCH_OPERATIONS,
    batch_commands.AddBatchItems: Feature.BATCH_OPERATIONS,
    batch_commands.StartBatchOperation: Feature.BATCH_OPERATIONS,
    batch_commands.ContinueBatchOperation: Feature.BATCH_OPERATIONS,
    batch_commands.ProcessBatchItems: Feature.BATCH_OPERATIONS,
    batch_commands.SettleBatchItems: Feature.BATCH_OPERATIONS,
    batch_commands.SuspendBatchOperation: Feature.BATCH_OPERATIONS,
    batch_commands.ResumeBatchOperation: Feature.BATCH_OPERATIONS,
    batch_commands.CancelBatchOperation: Feature.BATCH_OPERATIONS,
}


def feature_of(command: commands.Command) -> Feature:
    """The feature that a node needs to execute the command."""
    if isinstance(command, process_instance_commands.CreateProcessInstance) and (
        command.start_element_ids or command.terminates_after
    ):
        return Feature.MODIFICATIONS
    if (
        isinstance(command, batch_commands.CreateBatchOperation | batch_commands.ProcessBatchItems)
        and command.action.type is BatchOperationType.ERASE_VARIABLES
    ):
        return Feature.VARIABLE_ERASURES
    return COMMAND_FEATURES[type(command)]


class UnreadableFormat(Exception):
    """Packed content that this version cannot read, usually because a newer version has written it."""


@dataclass(frozen=True, slots=True)
class ClusterFormat:
    """The latest format that all nodes read; `laggard` is a node that keeps it from rising, or empty."""

    number: int = LATEST
    laggard: str = ""

    @property
    def wire(self) -> int:
        """The layout of commands; a format number that this version does not know counts as its own."""
        return self._known.wire

    @property
    def documents(self) -> int:
        """The layout of documents."""
        return self._known.documents

    @property
    def _known(self) -> Format:
        return FORMATS[max(min(self.number, LATEST), OLDEST) - 1]

    def has(self, feature: Feature) -> bool:
        """Whether all nodes support the feature."""
        return self.number >= INTRODUCED_IN[feature]

    def shortfall(self, feature: Feature, subject: str) -> str:
        """Why the deployment cannot use the feature yet, or an empty string; `subject` needs the feature."""
        if self.has(feature):
            return ""
        needed = INTRODUCED_IN[feature]
        culprit = f"; node {self.laggard} is at format {self.number}" if self.laggard else ""
        return f"{subject} needs all nodes at format {needed}, the deployment is at {self.number}{culprit}"

    def expect_process(self, process: ExecutableProcess) -> None:
        """Raises Rejected for a process with an element that a node of the deployment cannot run."""
        for element in process.elements.values():
            for feature, part in _needed(element):
                reason = self.shortfall(feature, f"process {process.id}: {part} {element.id}")
                if reason:
                    raise Rejected(RejectionType.INVALID_STATE, reason)


def _needed(element: Element) -> Iterator[tuple[Feature, str]]:
    """The features that an element needs, each with the part of the element that needs it."""
    yield ELEMENT_FEATURES[element.type], element.type
    for name, feature in FIELD_FEATURES.items():
        if getattr(element, name):
            yield feature, f"{name} of {element.type}"
