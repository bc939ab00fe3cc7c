"""The pictures of many histories that one broker plays, from the records that it writes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.peer.picture import Incident, Job, Picture, Task, Wait, values
from tests.peer.zeebe import Record

# A history's process has its number behind this.
NUMBER = "_"


class Pictures(dict[str, Picture]):
    """By the number of the history, with which the ids of its processes end."""

    def __init__(self) -> None:
        super().__init__()
        self._owners: dict[int, Picture] = {}
        self.rejections: dict[int, str] = {}

    def note(self, records: Iterable[Record]) -> None:
        for record in records:
            if record["recordType"] == "EVENT":
                note = _NOTES.get(record["valueType"])
                if note is not None:
                    picture = self._picture(record["value"])
                    if picture is not None:
                        note(picture, record["intent"], record["key"], record["value"])
                elif record["valueType"] == "JOB_BATCH":
                    self._note_batch(record)

    def _picture(self, value: Mapping[str, Any]) -> Picture | None:
        process_id = value.get("bpmnProcessId", "")
        instance_key = value.get("processInstanceKey", -1)
        if instance_key not in self._owners and process_id:
            picture = self.get(process_id.rpartition(NUMBER)[2])
            if picture is not None and instance_key > 0:
                self._owners[instance_key] = picture
            return picture
        return self._owners.get(instance_key)

    def _note_batch(self, record: Record) -> None:
        if record["intent"] != "ACTIVATED":
            return
        value = record["value"]
        for key, job in zip(value["jobKeys"], value["jobs"], strict=True):
            picture = self._picture(job)
            if picture is not None:
                known = picture.jobs[key]
                known.state, known.deadline, known.variables = "ACTIVATED", job["deadline"], job["variables"]


def _note_element(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent == "SEQUENCE_FLOW_TAKEN":
        picture.take(value["flowScopeKey"], value["elementId"])
    elif intent == "ELEMENT_ACTIVATING":
        scopes = (value["flowScopeKey"], value["parentElementInstanceKey"])
        scope_key = next((scope for scope in scopes if scope > 0), None)
        picture.enter(key, scope_key, value["elementId"], value["bpmnElementType"])
    elif intent.startswith("ELEMENT_"):
        picture.move(key, intent.removeprefix("ELEMENT_"))


def _note_variable(picture: Picture, intent: str, _: int, value: Mapping[str, Any]) -> None:
    if intent in {"CREATED", "UPDATED"}:
        picture.set(value["scopeKey"], value["name"], values({"": value["value"]})[""])


def _note_incident(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent == "CREATED":
        job_key = value["jobKey"] if value["jobKey"] > 0 else None
        picture.incidents[key] = Incident(key, value["elementInstanceKey"], value["errorType"], job_key)
    elif intent == "RESOLVED":
        picture.resolve(key)


def _note_timer(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent == "CREATED":
        due = (value["dueDate"], value["repetitions"])
        picture.timers[key] = Wait(key, value["elementInstanceKey"], value["targetElementId"], due)
    elif intent in {"TRIGGERED", "CANCELED"}:
        picture.timers.pop(key, None)


def _note_message(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent in {"CREATING", "CREATED"}:
        names = (value["messageName"], value["correlationKey"])
        picture.messages[key] = Wait(key, value["elementInstanceKey"], value["elementId"], names)
        picture.unsettled.discard(key)
        if intent == "CREATING":
            picture.unsettled.add(key)
    elif intent in {"DELETING", "DELETED"} or (intent == "CORRELATED" and value["interrupting"]):
        picture.messages.pop(key, None)
        picture.unsettled.discard(key)
        if intent == "DELETING":
            picture.unsettled.add(key)


def _note_signal(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent == "CREATED":
        picture.signals[key] = Wait(
            key, value["catchEventInstanceKey"], value["catchEventId"], (value["signalName"],)
        )
    elif intent == "DELETED":
        picture.signals.pop(key, None)


def _note_job(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent == "CREATED":
        picture.jobs[key] = Job(
            key,
            value["elementInstanceKey"],
            value["type"],
            value["retries"],
            value["customHeaders"],
            value["jobKind"],
            value["jobListenerEventType"],
        )
    elif intent in {"COMPLETED", "CANCELED"}:
        picture.jobs.pop(key, None)
    elif key in picture.jobs:
        _change_job(picture.jobs[key], intent, value)


def _change_job(job: Job, intent: str, value: Mapping[str, Any]) -> None:
    job.retries = value["retries"]
    if intent == "FAILED":
        waits = value["retryBackoff"] > 0
        job.state = "FAILED" if job.retries <= 0 else "BACKING_OFF" if waits else "ACTIVATABLE"
        job.deadline = value["recurringTime"] if waits else None
    elif intent in {"TIMED_OUT", "RECURRED_AFTER_BACKOFF"}:
        job.state = "ACTIVATABLE"
    elif intent == "ERROR_THROWN":
        job.state = "ERROR_THROWN"


def _note_task(picture: Picture, intent: str, key: int, value: Mapping[str, Any]) -> None:
    if intent in {"CREATED", "ASSIGNED", "UPDATED"}:
        changed = {
            "assignee": value["assignee"],
            "candidateGroups": value["candidateGroupsList"],
            "candidateUsers": value["candidateUsersList"],
            "dueDate": _moment(value["dueDate"]),
            "followUpDate": _moment(value["followUpDate"]),
            "priority": value["priority"],
        }
        picture.tasks[key] = Task(key, value["elementInstanceKey"], changed)
    elif intent in {"COMPLETED", "CANCELED"}:
        picture.tasks.pop(key, None)


def _moment(text: str) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


_NOTES: Mapping[str, Callable[[Picture, str, int, Mapping[str, Any]], None]] = {
    "PROCESS_INSTANCE": _note_element,
    "VARIABLE": _note_variable,
    "INCIDENT": _note_incident,
    "TIMER": _note_timer,
    "PROCESS_MESSAGE_SUBSCRIPTION": _note_message,
    "SIGNAL_SUBSCRIPTION": _note_signal,
    "JOB": _note_job,
    "USER_TASK": _note_task,
}
