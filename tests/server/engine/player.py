"""Plays the moves of a random history, and looks at what each leaves behind."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from datetime import timedelta
from itertools import starmap
from typing import Any, cast

import msgspec

from server.bpmn.executable import ElementType, ExecutableProcess, Flow
from server.engine import (
    State,
    batch_commands,
    cluster_variable_commands,
    deployment_commands,
    events,
    global_task_listener_commands,
    job_commands,
    message_commands,
    migration_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    user_task_commands,
)
from server.engine.answers import BatchOperationCreated, CreatedInstance
from server.engine.batch_operations import BatchAction, BatchItem, BatchOperationType, ElementPair
from server.engine.commands import Command
from server.engine.incidents import ErrorType
from server.engine.job_kinds import JobKind
from server.engine.job_results import AdHocSubProcessResult, UserTaskResult
from server.engine.keys import Key, first_key
from server.engine.lifecycle import ElementState
from server.engine.process_instance import ElementInstance, JobState, OpenIncident, ProcessInstance
from server.engine.rejection import Rejected
from server.engine.user_task_changes import Corrections, DateChange
from server.engine.work import Activation
from tests.durable import EPOCH
from tests.server.engine.form_files import form
from tests.server.engine.laws import open_incidents
from tests.server.engine.resource_files import rpa
from tests.server.engine.scenario import Scenario
from tests.server.engine.strategies import (
    BEGIN,
    GOOD,
    HELPER,
    JOB_TYPES,
    KEYS,
    MESSAGE,
    SIGNAL,
    Block,
    Move,
    helper,
    written,
)

SECOND = timedelta(seconds=1)
UNKNOWN = Key(42)
# In this partition, and given to nothing.
UNBORN = Key(first_key(1) + 1_000_000_000)
MOST_ROUNDS = 50
MENDED_BY_VARIABLES = {
    ErrorType.EXTRACT_VALUE_ERROR,
    ErrorType.CONDITION_ERROR,
    ErrorType.IO_MAPPING_ERROR,
}
TWINS = {"random": "twin", "twin": "random", HELPER: HELPER}


def photograph(state: State) -> object:
    """Everything that the state holds, apart from any object that may change."""
    documents = deepcopy(state.instances)
    offers = {place: list(queue.items()) for place, queue in state.offers.items()}
    indexes = (dict(state.owners), offers)
    definitions = (
        dict(state.definitions),
        {name: list(keys.items()) for name, keys in state.versions.items()},
        deepcopy(state.starts),
        dict(state.started),
        dict(state.numbers),
        deepcopy(state.start_timers),
        deepcopy(state.forms),
        deepcopy(state.generic_resources),
        deepcopy(state.cluster_variables),
        deepcopy(state.global_task_listeners),
    )
    waiting = (deepcopy(state.messages), deepcopy(state.signals), deepcopy(state.batches))
    return documents, indexes, definitions, waiting, state.last_key, state.last_offer


class Player:
    """`faults` counts commands that ended in one; every refused command is checked to have changed nothing.

    The process has a twin that differs in its ids alone, so that process instances can be migrated there and back.
    """

    def __init__(self, block: Block, scenario: Scenario | None = None) -> None:
        self.scenario = scenario or Scenario()
        self.scenario.deploy(written(block), written(block, "twin", "other_"), helper())
        self.faults = 0
        self.refusals = 0
        self._block = block
        self._modified: set[Key] = set()

    def play(self, moves: Iterable[Move]) -> "Player":
        for move in moves:
            if move.kind == "advance":
                self._advance(move.number)
            elif move.kind == "deploy":
                self.scenario.deploy(written(self._block))
            elif move.kind == "batch":
                self._begin_batch(move)
            else:
                self._execute(COMMANDS[move.kind](move, self.scenario))
        return self

    def _advance(self, seconds: int) -> None:
        """Let the clock run; a due command may raise a fault like any other."""
        try:
            self.scenario.advance(seconds * SECOND)
        except msgspec.DecodeError:
            self.faults += 1

    def _begin_batch(self, move: Move) -> None:
        """Of an operation on every process instance or incident that there is, and on one that is not."""
        state, tenant_id = self.scenario.state, self.scenario.tenant_id
        action = _batch_action(move, self.scenario)
        if action.type is BatchOperationType.RESOLVE_INCIDENT:
            places = [(state.owners[key], key) for key in open_incidents(state)]
        else:
            places = [(key, key) for key in state.instances]
        if action.type is BatchOperationType.MODIFY_PROCESS_INSTANCE:
            self._modified |= state.instances.keys()
        items = tuple(BatchItem(key, owner) for owner, key in sorted([*places, (UNBORN, UNBORN)]))
        answer = self.scenario.execute(batch_commands.CreateBatchOperation(tenant_id, action))
        assert isinstance(answer, BatchOperationCreated)
        self._execute(batch_commands.AddBatchItems(tenant_id, answer.key, items))
        self._execute(batch_commands.StartBatchOperation(tenant_id, answer.key))
        self.scenario.advance(timedelta())
        assert state.batches.operations == {}

    def finish(self) -> None:
        """Be a worker that does everything, and somebody who mends what keeps the rest from going on.

        What was modified, or began at an element in the middle, is cancelled: a joining gateway may wait for ever, or nobody
        be left who could mend it.
        """
        scenario = self.scenario
        for key in self._modified & scenario.state.instances.keys():
            self._cancel(key)
        for _ in range(MOST_ROUNDS):
            if not scenario.state.instances:
                return
            scenario.advance(1000 * SECOND)
            self._mend()
            self._bring_all()
            self._activate_all()
            for _, job_type in sorted(scenario.state.offers):
                for job in scenario.activate(job_type, most=100):
                    # A completion condition may have ended it with the job before it.
                    if job.key in scenario.state.owners:
                        is_ad_hoc = job.kind is JobKind.AD_HOC_SUB_PROCESS
                        result = AdHocSubProcessResult(is_fulfilled=True) if is_ad_hoc else None
                        variables = {} if job.kind is JobKind.TASK_LISTENER else GOOD
                        scenario.execute(
                            job_commands.CompleteJob(scenario.tenant_id, job.key, variables, result)
                        )
        raise AssertionError(f"still running: {scenario.state.instances.values()}")

    def _bring_all(self) -> None:
        """Complete every user task, unless its listeners are being asked, and send what is waited for."""
        scenario = self.scenario
        for key in user_tasks(scenario.state):
            instance = scenario.state.owner_of(key)
            if instance is None or instance.user_tasks[key].transition is not None:
                continue
            scenario.execute(user_task_commands.CompleteUserTask(scenario.tenant_id, key, GOOD))
        # Each publication is for one subscription of a process.
        longest = {
            key: max(map(len, lines.values()))
            for (_, _, key), lines in scenario.state.messages.candidates.items()
        }
        for key, number in longest.items():
            for _ in range(number):
                scenario.execute(self._publication(key))
        for _, name in list(scenario.state.signals.waiting):
            scenario.execute(signal_commands.BroadcastSignal(scenario.tenant_id, name, GOOD))

    def _activate_all(self) -> None:
        """Activate an element where an ad-hoc sub-process waits for nothing else."""
        scenario = self.scenario
        waiting = [
            key
            for instance in scenario.state.instances.values()
            for key, element in instance.elements.items()
            if element.type is ElementType.AD_HOC_SUB_PROCESS
            and element.state is ElementState.ACTIVATED
            and element.children == 0
            and element.job_key is None
        ]
        for key in waiting:
            scenario.execute(_ad_hoc_activation(scenario, scenario.tenant_id, key, number=0))

    def _publication(self, key: str) -> Command:
        return message_commands.PublishMessage(
            tenant_id=self.scenario.tenant_id, name=MESSAGE, correlation_key=key, variables=GOOD
        )

    def _cancel(self, key: Key) -> None:
        """By its root, unless it ended with another one, or is being cancelled already: listeners are asked first."""
        instances = self.scenario.state.instances
        if key not in instances:
            return
        root_key = instances[key].head.root_key
        if instances[root_key].elements[root_key].state is not ElementState.TERMINATING:
            self.scenario.execute(
                process_instance_commands.CancelProcessInstance(self.scenario.tenant_id, root_key)
            )

    def _mend(self) -> None:
        scenario = self.scenario
        for job in scenario.activate("correct", most=100):
            alone = len(scenario.state.instances[job.instance.key].elements) == 2
            variables = {**GOOD, "finished": "true" if alone else "false"}
            scenario.execute(job_commands.CompleteJob(scenario.tenant_id, job.key, variables))
        for key, incident in open_incidents(scenario.state).items():
            if key not in scenario.state.owners:
                continue
            instance = scenario.state.instances[scenario.state.owners[key]]
            job_key = incident.job_key
            if job_key is not None and instance.jobs[job_key].state is JobState.FAILED:
                update = job_commands.UpdateJob(tenant_id=scenario.tenant_id, job_key=job_key, retries=1)
                scenario.execute(update)
            if incident.error_type in {ErrorType.FORM_NOT_FOUND, ErrorType.RESOURCE_NOT_FOUND}:
                files = deployment_commands.DeployResources(
                    scenario.tenant_id, (), forms=(form(tag="stable"),), generic=(rpa(tag="stable"),)
                )
                scenario.execute(files)
            if incident.error_type in MENDED_BY_VARIABLES:
                self._mend_variables(instance, incident)
            if key in scenario.state.owners:
                scenario.execute(process_instance_commands.ResolveIncident(scenario.tenant_id, key))

    def _mend_variables(self, instance: ProcessInstance, incident: OpenIncident) -> None:
        """What an element was given hides the variables of the process.

        Its activation hides them from its expressions, the result of its job from its mappings, too.
        """
        scope_key = incident.element_instance_key
        if incident.error_type is not ErrorType.IO_MAPPING_ERROR:
            scope_key = instance.elements[scope_key].scope_key or instance.head.key
        values = process_instance_commands.SetVariables(
            tenant_id=self.scenario.tenant_id,
            process_instance_key=instance.head.key,
            element_instance_key=scope_key,
            variables=GOOD,
        )
        self.scenario.execute(values)

    def _execute(self, command: Command) -> None:
        before = photograph(self.scenario.state)
        if isinstance(command, modification_commands.ModifyProcessInstance):
            self._modified.add(command.process_instance_key)
        try:
            answer = self.scenario.execute(command)
            if (
                isinstance(command, process_instance_commands.CreateProcessInstance)
                and command.start_element_ids
            ):
                self._modified.add(cast("CreatedInstance", answer).head.key)
        except Rejected:
            self.refusals += 1
            assert before == photograph(self.scenario.state)
        except msgspec.DecodeError:
            self.faults += 1
            assert before == photograph(self.scenario.state)


def _batch_action(move: Move, scenario: Scenario) -> BatchAction:
    types = list(BatchOperationType)
    type_ = types[move.number % len(types)]
    targets = sorted(scenario.state.versions)
    keys = scenario.state.versions[targets[move.pick % len(targets)]].values()
    pairs = tuple(
        ElementPair(element.element_id, element.element_id)
        for instance in scenario.state.instances.values()
        for element in instance.elements.values()
        if element.key != instance.head.key
    )
    return BatchAction(type_, max(keys), tuple(dict.fromkeys(pairs))[: move.pick])


def _ad_hoc_activation(scenario: Scenario, tenant_id: str, key: Key, *, number: int) -> Command:
    """Of a path of an ad-hoc sub-process, or of what is none."""
    owner = _owner(scenario, key)
    instance = scenario.state.instances.get(owner)
    element = instance.elements.get(key) if instance is not None else None
    return process_instance_commands.ActivateAdHocSubProcessActivities(
        tenant_id=tenant_id,
        process_instance_key=owner,
        ad_hoc_sub_process_instance_key=key,
        elements=(Activation(f"{element.element_id if element else ''}_path_{number % 2}", {"a": "5"}),),
        cancels_remaining=number > 1,
    )


def _add(move: Move, scenario: Scenario) -> Command:
    ad_hoc = [
        key
        for instance in scenario.state.instances.values()
        for key, element in instance.elements.items()
        if element.type is ElementType.AD_HOC_SUB_PROCESS
    ]
    key = _chosen(move, ad_hoc)
    return _ad_hoc_activation(scenario, _tenant(move, scenario), key, number=move.number)


def _complete(move: Move, scenario: Scenario) -> Command:
    key = _job(move, scenario)
    instance = scenario.state.instances.get(scenario.state.owners.get(key, key))
    job = instance.jobs.get(key) if instance is not None else None
    result = None
    if job is not None and job.kind is JobKind.AD_HOC_SUB_PROCESS and move.number:
        activations = tuple(Activation(f"{job.element_id}_path_{place}") for place in range(2))
        is_fulfilled = move.number > 2
        result = AdHocSubProcessResult(() if is_fulfilled else activations, is_fulfilled, move.pick % 2 == 1)
    return job_commands.CompleteJob(_tenant(move, scenario), key, move.variables or {}, result)


def user_tasks(state: State) -> list[Key]:
    return sorted(key for instance in state.instances.values() for key in instance.user_tasks)


def _chosen(move: Move, keys: Iterable[Key]) -> Key:
    candidates = [*keys, UNKNOWN]
    return candidates[move.pick % len(candidates)]


def _job(move: Move, scenario: Scenario) -> Key:
    """Of an activated job first, then of any other that there is or was."""
    jobs = [job for instance in scenario.state.instances.values() for job in instance.jobs.values()]
    jobs.sort(key=lambda job: (job.state is not JobState.ACTIVATED, job.type == "correct"))
    gone = [event.key for event in scenario.events if isinstance(event, events.JobCompleted)]
    return _chosen(move, [*(job.key for job in jobs), *gone])


def _listening_job(move: Move, scenario: Scenario) -> Key:
    jobs = (job for instance in scenario.state.instances.values() for job in instance.jobs.values())
    return _chosen(move, [job.key for job in jobs if job.kind is JobKind.TASK_LISTENER])


# By the number of a move.
ANSWERS = (
    None,
    UserTaskResult(corrections=Corrections(assignee="", candidate_users=("eve",), priority=1)),
    UserTaskResult(corrections=Corrections(assignee="eve", due_date=DateChange(EPOCH))),
    UserTaskResult(is_denied=True, denied_reason="no"),
)


def _incident(move: Move, scenario: Scenario) -> Key:
    gone = [event.key for event in scenario.events if isinstance(event, events.IncidentResolved)]
    return _chosen(move, [*open_incidents(scenario.state), *gone])


def _user_task(move: Move, scenario: Scenario) -> Key:
    gone = [
        event.key
        for event in scenario.events
        if isinstance(event, events.UserTaskCompleted | events.UserTaskCanceled)
    ]
    return _chosen(move, [*user_tasks(scenario.state), *gone])


def _instance(move: Move, scenario: Scenario) -> Key:
    """Of a process instance that there is or was, or of one of its elements."""
    created = [
        event.instance.key for event in scenario.events if isinstance(event, events.ProcessInstanceCreated)
    ]
    elements = [event.key for event in scenario.events if isinstance(event, events.ElementActivating)]
    return _chosen(move, [*reversed(created), *elements])


def _owner(scenario: Scenario, element_instance_key: Key) -> Key:
    """The process instance of an element instance that there is or was."""
    entered = (event for event in scenario.events if isinstance(event, events.ElementActivating))
    owners = {event.key: event.instance.key for event in entered}
    return owners.get(element_instance_key, element_instance_key)


def _migrate(move: Move, scenario: Scenario) -> Command:
    """To the twin, with every element and flow mapped, or all but one, or no flow."""
    key = _instance(move, scenario)
    instance = scenario.state.instances.get(key)
    source_id = instance.head.process_definition_id if instance else "random"
    source, target = (
        scenario.state.latest(scenario.tenant_id, name) for name in (source_id, TWINS[source_id])
    )
    assert source is not None
    assert target is not None
    pairs = list(zip(source.process.elements, target.process.elements, strict=True))
    if move.number < 3:
        pairs += zip(map(_id, _flows(source.process)), map(_id, _flows(target.process)), strict=True)
    if move.number == 2:
        del pairs[move.pick % len(pairs)]
    return migration_commands.MigrateProcessInstance(
        tenant_id=_tenant(move, scenario),
        process_instance_key=key,
        target_process_definition_key=target.key,
        mapping_instructions=tuple(starmap(migration_commands.MappingInstruction, pairs)),
    )


def _start_at(move: Move, scenario: Scenario) -> Command:
    """Begin at an element, and perhaps end after another one."""
    tenant_id = _tenant(move, scenario)
    latest = scenario.state.latest(tenant_id, "random")
    ids = list(latest.process.elements) if latest is not None else ["none"]
    return process_instance_commands.CreateProcessInstance(
        tenant_id=tenant_id,
        process_definition_id="random",
        variables=move.variables or {},
        start_element_ids=(ids[(move.pick + 7 * move.number) % len(ids)],),
        terminates_after=(ids[(2 * move.pick + move.number) % len(ids)],) if move.number % 2 else (),
    )


def _modify(move: Move, scenario: Scenario) -> Command:
    """Activate an element, terminate one, or move one, in the scope where it is or in any."""
    key = _instance(move, scenario)
    instance = scenario.state.instances.get(key) or next(iter(scenario.state.instances.values()), None)
    instructions: dict[str, Any] = {}
    if instance is not None:
        key = instance.head.key
        ids = list(scenario.state.definition_of(instance).process.elements)
        source = list(instance.elements.values())[-1 - move.pick % len(instance.elements)]
        target = ids[(move.pick + 7 * move.number) % len(ids)]
        variables = (modification_commands.VariableInstruction("", move.variables or {}),)
        instructions = _INSTRUCTIONS[move.number](source, target, variables)
    return modification_commands.ModifyProcessInstance(
        tenant_id=_tenant(move, scenario), process_instance_key=key, **instructions
    )


def _activation(_: ElementInstance, target: str, variables: Any) -> dict[str, Any]:
    return {
        "activate_instructions": (
            modification_commands.ActivateInstruction(element_id=target, variable_instructions=variables),
        )
    }


def _termination(source: ElementInstance, _: str, variables: Any) -> dict[str, Any]:  # noqa: ARG001
    return {
        "terminate_instructions": (
            modification_commands.TerminateInstruction(element_instance_key=source.key),
        )
    }


def _movement(source: ElementInstance, target: str, variables: Any) -> dict[str, Any]:
    move = modification_commands.MoveInstruction(
        source_element_instance_key=source.key,
        target_element_id=target,
        ancestor_scope_type=modification_commands.AncestorScopeType.INFERRED,
        variable_instructions=variables,
    )
    return {"move_instructions": (move,)}


def _renewal(source: ElementInstance, _: str, variables: Any) -> dict[str, Any]:
    """An element instance is replaced by another one of its element."""
    return _movement(source, source.element_id, variables)


_INSTRUCTIONS = (_activation, _termination, _movement, _renewal)


def _flows(process: ExecutableProcess) -> list[Flow]:
    return [flow for element in process.elements.values() for flow in element.incoming]


def _id(flow: Flow) -> str:
    return flow.id


def _tenant(move: Move, scenario: Scenario) -> str:
    return "foreign" if move.is_foreign else scenario.tenant_id


def _activate(move: Move, scenario: Scenario) -> Command:
    return job_commands.ActivateJobs(
        tenant_id=_tenant(move, scenario),
        type=JOB_TYPES[move.pick % len(JOB_TYPES)],
        worker=f"worker-{move.number}",
        timeout=(move.pick + 1) * 20 * SECOND,
        max_jobs=move.number + 1,
    )


def _yield(move: Move, scenario: Scenario) -> Command:
    activated = [event for event in scenario.events if isinstance(event, events.JobActivated)]
    chosen = activated[-1 - move.pick % len(activated) :][:2] if activated else []
    return job_commands.YieldJobs(
        _tenant(move, scenario), tuple((event.key, event.deadline) for event in chosen)
    )


def _delete(move: Move, scenario: Scenario) -> Command:
    """A version of the process, unless it is the last one."""
    keys = [*scenario.state.versions[scenario.tenant_id, "random"].values()]
    key = keys[-1 - move.pick % len(keys)] if len(keys) > 1 else UNKNOWN
    return deployment_commands.DeleteResource(_tenant(move, scenario), key)


def _hide(move: Move, scenario: Scenario) -> Command:
    """Delete a version of a form or of a generic resource."""
    keys = sorted([*scenario.state.forms.files, *scenario.state.generic_resources.files])
    return deployment_commands.DeleteResource(
        _tenant(move, scenario), keys[move.pick % len(keys)] if keys else UNKNOWN
    )


def _keep(move: Move, scenario: Scenario) -> Command:
    """Create a cluster variable or change it, of the tenant or of all of them."""
    tenant_id, name, is_global = _tenant(move, scenario), "abc"[move.number % 3], move.pick % 2 == 1
    known = scenario.state.cluster_variables.get(None if is_global else tenant_id, name)
    change = (
        cluster_variable_commands.CreateClusterVariable
        if known is None
        else cluster_variable_commands.UpdateClusterVariable
    )
    return change(tenant_id, name, str(move.pick), is_global)


def _listen(move: Move, scenario: Scenario) -> Command:
    """Create a global task listener or change it; its jobs are of the types that are completed."""
    tenant_id, listener_id = _tenant(move, scenario), "abc"[move.number % 3]
    known = scenario.state.global_task_listeners.get(tenant_id, listener_id)
    change = (
        global_task_listener_commands.CreateGlobalTaskListener
        if known is None
        else global_task_listener_commands.UpdateGlobalTaskListener
    )
    event_types = ("all",) if move.pick % 2 else ("creating", "completing", "canceling")
    return change(
        tenant_id, listener_id, JOB_TYPES[move.pick % 2], event_types, after_non_global=move.number > 1
    )


COMMANDS: dict[str, Callable[[Move, Scenario], Command]] = {
    "start": lambda move, scenario: process_instance_commands.CreateProcessInstance(
        tenant_id=_tenant(move, scenario), process_definition_id="random", variables=move.variables or {}
    ),
    "start at": _start_at,
    "cancel": lambda move, scenario: process_instance_commands.CancelProcessInstance(
        _tenant(move, scenario), _instance(move, scenario)
    ),
    "delete": _delete,
    "show": lambda move, scenario: deployment_commands.DeployResources(
        _tenant(move, scenario),
        (),
        forms=(form(tag="stable", title=str(move.number)),),
        generic=(rpa(tag="stable", script=str(move.pick)),),
    ),
    "hide": _hide,
    "keep": _keep,
    "drop": lambda move, scenario: cluster_variable_commands.DeleteClusterVariable(
        _tenant(move, scenario), "abc"[move.number % 3], move.pick % 2 == 1
    ),
    "listen": _listen,
    "ignore": lambda move, scenario: global_task_listener_commands.DeleteGlobalTaskListener(
        _tenant(move, scenario), "abc"[move.number % 3]
    ),
    "migrate": _migrate,
    "modify": _modify,
    "activate": _activate,
    "yield": _yield,
    "complete": _complete,
    "add": _add,
    "answer": lambda move, scenario: job_commands.CompleteJob(
        _tenant(move, scenario), _listening_job(move, scenario), result=ANSWERS[move.number]
    ),
    "fail": lambda move, scenario: job_commands.FailJob(
        tenant_id=_tenant(move, scenario),
        job_key=_job(move, scenario),
        retries=move.number,
        retry_back_off=move.pick * SECOND,
        variables=move.variables or {},
    ),
    "throw": lambda move, scenario: job_commands.ThrowJobError(
        tenant_id=_tenant(move, scenario),
        job_key=_job(move, scenario),
        error_code="x",
        variables=move.variables or {},
    ),
    "update": lambda move, scenario: job_commands.UpdateJob(
        tenant_id=_tenant(move, scenario),
        job_key=_job(move, scenario),
        retries=move.number + 1,
        timeout=(move.number + 1) * SECOND if move.pick % 2 else None,
    ),
    "assign": lambda move, scenario: user_task_commands.AssignUserTask(
        tenant_id=_tenant(move, scenario),
        user_task_key=_user_task(move, scenario),
        assignee=f"person-{move.number}",
        allow_override=move.number > 1,
    ),
    "unassign": lambda move, scenario: user_task_commands.UnassignUserTask(
        _tenant(move, scenario), _user_task(move, scenario)
    ),
    "change": lambda move, scenario: user_task_commands.UpdateUserTask(
        tenant_id=_tenant(move, scenario),
        user_task_key=_user_task(move, scenario),
        candidate_users=("ann",) * move.number,
        due_date=DateChange(EPOCH + move.number * SECOND if move.number else None),
        priority=move.number * 10,
    ),
    "do": lambda move, scenario: user_task_commands.CompleteUserTask(
        _tenant(move, scenario), _user_task(move, scenario), move.variables or {}
    ),
    "publish": lambda move, scenario: message_commands.PublishMessage(
        tenant_id=_tenant(move, scenario),
        name=MESSAGE,
        correlation_key=KEYS[move.pick % len(KEYS)],
        time_to_live=move.number * 20 * SECOND,
        message_id="once" if move.pick > 2 else "",
        variables=move.variables or {},
    ),
    "begin": lambda move, scenario: message_commands.PublishMessage(
        tenant_id=_tenant(move, scenario),
        name=BEGIN,
        correlation_key=[*KEYS, ""][move.pick % 4],
        time_to_live=move.number * 40 * SECOND,
        variables=move.variables or {},
    ),
    "call": lambda move, scenario: signal_commands.BroadcastSignal(
        _tenant(move, scenario), BEGIN, move.variables or {}
    ),
    "evaluate": lambda move, scenario: signal_commands.EvaluateConditionals(
        _tenant(move, scenario), move.variables or {}, UNKNOWN if move.is_foreign else None
    ),
    "broadcast": lambda move, scenario: signal_commands.BroadcastSignal(
        _tenant(move, scenario), SIGNAL, move.variables or {}
    ),
    "resolve": lambda move, scenario: process_instance_commands.ResolveIncident(
        _tenant(move, scenario), _incident(move, scenario)
    ),
    "set": lambda move, scenario: process_instance_commands.SetVariables(
        tenant_id=_tenant(move, scenario),
        process_instance_key=_owner(scenario, _instance(move, scenario)),
        element_instance_key=_instance(move, scenario),
        variables=move.variables or {},
        is_local=bool(move.number % 2),
    ),
}
