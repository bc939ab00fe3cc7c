"""Moves of a history: each is one command, chosen from what both engines have at the moment, and sent to both."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from server.engine import (
    job_commands,
    message_commands,
    modification_commands,
    process_instance_commands,
    signal_commands,
    user_task_commands,
)
from server.engine.commands import Command
from server.engine.keys import Key
from server.engine.user_task_changes import DateChange
from tests.campaigns.dice import Dice
from tests.peer.models import CODES, GOOD, KEYS, Names
from tests.peer.ours import TENANT
from tests.peer.picture import Picture
from tests.peer.zeebe import Zeebe

_VALUES = ("null", "true", "false", "0", "5", '"text"', '{"x":1}', "[]", '"b"')
_UNKNOWN = 42
# How a user task is changed, in the order of numbers of moves.
_CHANGES: Sequence[Mapping[str, Any]] = (
    {"priority": 70, "candidateGroups": ["sales"]},
    {"dueDate": "2027-01-02T03:04:05Z", "candidateUsers": ["bob", "ann"]},
    {"dueDate": "", "followUpDate": "2027-02-03T04:05:06+01:00", "candidateGroups": []},
    {"priority": 0, "dueDate": ""},
)
# Of messages, by the places of moves.
_IDS = ("", "first", "second")
# Longer than a history: of messages with ids (`differences.STANDING`).
_LONG = 10_000
_ASSIGNEES = ("ann", "bob", "cid", "ann")


@dataclass(frozen=True, slots=True)
class Move:
    """`place` is that of the job, incident, user task, element or process instance in the order of a picture.

    `inside` is that of an element instance of the process instance that is modified.
    """

    kind: str
    place: int = 0
    number: int = 0
    text: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kind} {self.place} {self.number} {self.text} {_json(self.variables)} {self.inside or ''}"
        )


def chosen_move(dice: Dice, picture: Picture, names: Names, element_ids: Sequence[str]) -> Move:
    kinds = ["publish"] * 3 + ["broadcast"] * 2 + ["start", "begin", "call", "set", "set"]
    jobs, incidents = len(picture.live_jobs()), len(picture.live_incidents())
    if jobs:
        kinds += ["complete"] * 16 + ["fail"] * 2 + ["throw"] * 3 + ["retry"]
    tasks = len(picture.live_tasks())
    if tasks:
        kinds += ["finish"] * 8 + ["assign"] * 4 + ["unassign"] * 2 + ["change"] * 4
    if incidents:
        kinds += ["resolve"] * 4 + ["mend"] * 4
    if dice.between(1, 20) == 1:
        kinds = ["modify"]
    if dice.between(1, 60) == 1:
        kinds = ["cancel"]
    if not picture.roots():
        kinds = ["start"] * 4 + ["begin", "call"]
    kind = dice.choice(kinds)
    places = {
        "complete": jobs,
        "fail": jobs,
        "throw": jobs,
        "retry": jobs,
        "resolve": incidents,
        "mend": incidents,
        "publish": len(_IDS),
        "begin": len(_IDS),
        "finish": tasks,
        "assign": tasks,
        "unassign": tasks,
        "change": tasks,
        "set": len(picture.settable_elements()),
        "cancel": len(picture.roots()),
        "modify": len(picture.roots()),
    }
    place = dice.between(0, max(places.get(kind, 1) - 1, 0))
    number = dice.between(0, 3)
    if kind == "modify":
        inside = dice.between(0, max(len(_inside(picture.roots()[place], picture)) - 1, 0))
        return Move(kind, place, number, dice.choice(element_ids), _variables(kind, dice), inside)
    return Move(kind, place, number, _text(kind, dice, names), _variables(kind, dice))


def _text(kind: str, dice: Dice, names: Names) -> str:
    match kind:
        case "publish":
            return dice.choice((names.message, names.message, f"{names.message}_b", f"{names.message}_1"))
        case "begin" | "call":
            return names.begin
        case "broadcast":
            return names.signal
        case "throw":
            return dice.choice((*CODES, "x"))
        case _:
            return names.process


def _variables(kind: str, dice: Dice) -> Mapping[str, str]:
    if kind == "mend" or (kind == "start" and dice.between(0, 3)):
        return GOOD
    chosen = (dice.choice(tuple(GOOD)) for _ in range(dice.between(0, 2)))
    return {name: GOOD[name] if dice.between(0, 1) else dice.choice(_VALUES) for name in chosen}


def ours(move: Move, picture: Picture) -> Command:
    return _OURS[move.kind](move, picture)


def theirs(move: Move, picture: Picture, broker: Zeebe) -> Any:
    """The call of the gateway, whose answer is awaited later."""
    if move.kind in _REQUESTS:
        return broker.call(*_REQUESTS[move.kind](move, _task(move, picture)))
    name, arguments = _THEIRS[move.kind](move, picture)
    request = getattr(broker.requests, f"{name}Request")(**arguments)
    return getattr(broker.gateway, name).future(request)


def _job(move: Move, picture: Picture) -> int:
    jobs = picture.live_jobs()
    return jobs[move.place].key if move.place < len(jobs) else _UNKNOWN


def _incident(move: Move, picture: Picture) -> int:
    incidents = picture.live_incidents()
    return incidents[move.place].key if move.place < len(incidents) else _UNKNOWN


def _task(move: Move, picture: Picture) -> int:
    tasks = picture.live_tasks()
    return tasks[move.place].key if move.place < len(tasks) else _UNKNOWN


def _element(move: Move, picture: Picture) -> int:
    """For a mending move, the scope around the element that has the incident."""
    if move.kind == "mend":
        return picture.scope_around(picture.elements[picture.live_incidents()[move.place].element_key])
    elements = picture.settable_elements()
    return elements[move.place].key if move.place < len(elements) else _UNKNOWN


def _instance(move: Move, picture: Picture) -> int:
    roots = picture.roots()
    return roots[move.place] if move.place < len(roots) else _UNKNOWN


def _inside(key: int, picture: Picture) -> list[int]:
    """The element instances of a process instance."""
    keys = [element.key for element in picture.live_elements()]
    return [each for each in keys if each != key and _owner(each, picture) == key]


def _owner(key: int, picture: Picture) -> int:
    element = picture.elements.get(key)
    while element is not None and element.type != "PROCESS":
        element = picture.elements.get(element.scope_key or 0)
    return element.key if element is not None else key


def _key(move: Move) -> str:
    return (*KEYS, "")[move.number] if move.kind == "begin" else KEYS[move.number % len(KEYS)]


def _seconds(move: Move) -> int:
    """How long a message lives, and a failed job backs off."""
    if move.kind not in {"publish", "begin"}:
        return 21 * (move.number % 2)
    return (41 if not _IDS[move.place] else _LONG) * (move.number % 3)


# By the numbers of moves.
_ACTIVATES, _TERMINATES, _IN_ANCESTOR = {0, 2, 3}, {1, 2}, {3}


def _modify_ours(move: Move, picture: Picture) -> Command:
    key, inside = _instance(move, picture), _inside_of(move, picture)
    activate = modification_commands.ActivateInstruction(
        element_id=move.text,
        ancestor_element_instance_key=Key(inside) if move.number in _IN_ANCESTOR else None,
        variable_instructions=(
            modification_commands.VariableInstruction(_scope_id(move), dict(move.variables)),
        ),
    )
    terminate = modification_commands.TerminateInstruction(element_instance_key=Key(inside))
    return modification_commands.ModifyProcessInstance(
        tenant_id=TENANT,
        process_instance_key=Key(key),
        activate_instructions=(activate,) if move.number in _ACTIVATES else (),
        terminate_instructions=(terminate,) if move.number in _TERMINATES else (),
    )


def _modify_theirs(move: Move, picture: Picture) -> tuple[str, Mapping[str, Any]]:
    key, inside = _instance(move, picture), _inside_of(move, picture)
    activate = {
        "elementId": move.text,
        "ancestorElementInstanceKey": inside if move.number in _IN_ANCESTOR else -1,
        "variableInstructions": [{"variables": _json(move.variables), "scopeId": _scope_id(move)}],
    }
    return "ModifyProcessInstance", {
        "processInstanceKey": key,
        "activateInstructions": [activate] if move.number in _ACTIVATES else [],
        "terminateInstructions": [{"elementInstanceKey": inside}] if move.number in _TERMINATES else [],
    }


def _inside_of(move: Move, picture: Picture) -> int:
    inside = _inside(_instance(move, picture), picture)
    return inside[move.inside] if move.inside < len(inside) else _UNKNOWN


def _scope_id(move: Move) -> str:
    return move.text if move.number == 2 else ""


def _set_ours(move: Move, picture: Picture) -> Command:
    key = _element(move, picture)
    return process_instance_commands.SetVariables(
        tenant_id=TENANT,
        process_instance_key=Key(_owner(key, picture)),
        element_instance_key=Key(key),
        variables=dict(move.variables),
        is_local=move.number == 1 and move.kind == "set",
    )


def _set_theirs(move: Move, picture: Picture) -> tuple[str, Mapping[str, Any]]:
    is_local = move.number == 1 and move.kind == "set"
    key = _element(move, picture)
    return "SetVariables", {"elementInstanceKey": key, "variables": _json(move.variables), "local": is_local}


def _publish_ours(move: Move, _: Picture) -> Command:
    return message_commands.PublishMessage(
        tenant_id=TENANT,
        name=move.text,
        correlation_key=_key(move),
        time_to_live=timedelta(seconds=_seconds(move)),
        message_id=_IDS[move.place],
        variables=dict(move.variables),
    )


def _publish_theirs(move: Move, _: Picture) -> tuple[str, Mapping[str, Any]]:
    return "PublishMessage", {
        "name": move.text,
        "correlationKey": _key(move),
        "timeToLive": 1000 * _seconds(move),
        "messageId": _IDS[move.place],
        "variables": _json(move.variables),
    }


def _broadcast_ours(move: Move, _: Picture) -> Command:
    return signal_commands.BroadcastSignal(TENANT, move.text, dict(move.variables))


def _broadcast_theirs(move: Move, _: Picture) -> tuple[str, Mapping[str, Any]]:
    return "BroadcastSignal", {"signalName": move.text, "variables": _json(move.variables)}


def _change_ours(move: Move, picture: Picture) -> Command:
    changes = _CHANGES[move.number]
    groups, users = changes.get("candidateGroups"), changes.get("candidateUsers")
    return user_task_commands.UpdateUserTask(
        tenant_id=TENANT,
        user_task_key=Key(_task(move, picture)),
        candidate_groups=None if groups is None else tuple(groups),
        candidate_users=None if users is None else tuple(users),
        due_date=_date(changes.get("dueDate")),
        follow_up_date=_date(changes.get("followUpDate")),
        priority=changes.get("priority"),
    )


def _overrides(move: Move) -> bool:
    return move.number < len(_ASSIGNEES) - 1


def _date(text: str | None) -> DateChange | None:
    return None if text is None else DateChange(datetime.fromisoformat(text) if text else None)


def _json(variables: Mapping[str, str]) -> str:
    return "{" + ",".join(f'"{name}":{text}' for name, text in variables.items()) + "}"


_OURS: Mapping[str, Callable[[Move, Picture], Command]] = {
    "start": lambda move, _: process_instance_commands.CreateProcessInstance(
        tenant_id=TENANT, process_definition_id=move.text, variables=dict(move.variables)
    ),
    "complete": lambda move, picture: job_commands.CompleteJob(
        TENANT, Key(_job(move, picture)), dict(move.variables)
    ),
    "fail": lambda move, picture: job_commands.FailJob(
        tenant_id=TENANT,
        job_key=Key(_job(move, picture)),
        retries=max(move.number - 1, 0),
        retry_back_off=timedelta(seconds=_seconds(move)),
        variables=dict(move.variables),
    ),
    "throw": lambda move, picture: job_commands.ThrowJobError(
        tenant_id=TENANT,
        job_key=Key(_job(move, picture)),
        error_code=move.text,
        variables=dict(move.variables),
    ),
    "retry": lambda move, picture: job_commands.UpdateJob(
        tenant_id=TENANT, job_key=Key(_job(move, picture)), retries=move.number + 1
    ),
    "resolve": lambda move, picture: process_instance_commands.ResolveIncident(
        TENANT, Key(_incident(move, picture))
    ),
    "mend": _set_ours,
    "set": _set_ours,
    "assign": lambda move, picture: user_task_commands.AssignUserTask(
        tenant_id=TENANT,
        user_task_key=Key(_task(move, picture)),
        assignee=_ASSIGNEES[move.number],
        allow_override=_overrides(move),
    ),
    "unassign": lambda move, picture: user_task_commands.UnassignUserTask(TENANT, Key(_task(move, picture))),
    "change": _change_ours,
    "finish": lambda move, picture: user_task_commands.CompleteUserTask(
        TENANT, Key(_task(move, picture)), dict(move.variables)
    ),
    "cancel": lambda move, picture: process_instance_commands.CancelProcessInstance(
        TENANT, Key(_instance(move, picture))
    ),
    "modify": _modify_ours,
    "publish": _publish_ours,
    "begin": _publish_ours,
    "broadcast": _broadcast_ours,
    "call": _broadcast_ours,
}

_THEIRS: Mapping[str, Callable[[Move, Picture], tuple[str, Mapping[str, Any]]]] = {
    "start": lambda move, _: (
        "CreateProcessInstance",
        {"bpmnProcessId": move.text, "version": -1, "variables": _json(move.variables)},
    ),
    "complete": lambda move, picture: (
        "CompleteJob",
        {"jobKey": _job(move, picture), "variables": _json(move.variables)},
    ),
    "fail": lambda move, picture: (
        "FailJob",
        {
            "jobKey": _job(move, picture),
            "retries": max(move.number - 1, 0),
            "retryBackOff": 1000 * _seconds(move),
            "variables": _json(move.variables),
        },
    ),
    "throw": lambda move, picture: (
        "ThrowError",
        {"jobKey": _job(move, picture), "errorCode": move.text, "variables": _json(move.variables)},
    ),
    "retry": lambda move, picture: (
        "UpdateJobRetries",
        {"jobKey": _job(move, picture), "retries": move.number + 1},
    ),
    "resolve": lambda move, picture: ("ResolveIncident", {"incidentKey": _incident(move, picture)}),
    "mend": _set_theirs,
    "set": _set_theirs,
    "cancel": lambda move, picture: (
        "CancelProcessInstance",
        {"processInstanceKey": _instance(move, picture)},
    ),
    "modify": _modify_theirs,
    "publish": _publish_theirs,
    "begin": _publish_theirs,
    "broadcast": _broadcast_theirs,
    "call": _broadcast_theirs,
}

# What the gRPC gateway does not have: the method, the path and the body of HTTP requests.
_REQUESTS: Mapping[str, Callable[[Move, int], tuple[str, str, Mapping[str, Any]]]] = {
    "assign": lambda move, key: (
        "POST",
        f"/user-tasks/{key}/assignment",
        {"assignee": _ASSIGNEES[move.number], "allowOverride": _overrides(move)},
    ),
    "unassign": lambda _, key: ("DELETE", f"/user-tasks/{key}/assignee", {}),
    "change": lambda move, key: ("PATCH", f"/user-tasks/{key}", {"changeset": _CHANGES[move.number]}),
    "finish": lambda move, key: (
        "POST",
        f"/user-tasks/{key}/completion",
        {"variables": json.loads(_json(move.variables))},
    ),
}

MOVES: Sequence[str] = tuple(_OURS)
