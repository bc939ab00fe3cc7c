"""The processes that campaigns run. The engine itself counts what happens in each process instance, in `count`."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.bpmn.builder import process

RETRIES = 3
SMALL_PREFIX = "campaign-small-"

AT_START = {"count": 0}
AT_COMPLETION = {"step": 1}
REFERENCE = "reference"
"""Variable of each process instance, which no other one shares."""

_COUNTED = {"count": "=count + step"}


@dataclass(frozen=True, slots=True)
class Story:
    """A process to start, and what happens in each of its process instances.

    `files` are its own and those of processes that it calls, `jobs` how many jobs of each type there are, `elements` how
    many element instances by process id. It waits for one `message`, whose correlation key is the `REFERENCE`.
    """

    process_id: str
    files: Mapping[str, bytes]
    jobs: Mapping[str, int]
    elements: Mapping[str, int]
    message: str = ""

    @property
    def job_count(self) -> int:
        return sum(self.jobs.values())

    @property
    def called(self) -> list[str]:
        """Ids of processes of which it calls one instance each."""
        return [process_id for process_id in self.elements if process_id != self.process_id]

    @property
    def count(self) -> int:
        """The value of `count` at the end: each job and the message add 1."""
        return self.job_count + bool(self.message)


_FIRST, _SECOND = "campaign-first", "campaign-second"

JOBS = Story(
    "campaign",
    {
        "campaign.bpmn": process("campaign")
        .start()
        .service_task("first", type=_FIRST, retries=str(RETRIES), outputs=_COUNTED)
        .service_task("second", type=_SECOND, retries=str(RETRIES), outputs=_COUNTED)
        .end()
        .to_xml()
    },
    jobs={_FIRST: 1, _SECOND: 1},
    elements={"campaign": 4},
)

_EACH, _CALLED = "campaign-each", "campaign-called"

# The partition of the message is that of its correlation key, most often another one than that of the process instance.
EVENTS = Story(
    "campaign-events",
    {
        "campaign-called.bpmn": process(_CALLED)
        .start()
        .service_task("work", type=_CALLED, retries=str(RETRIES), outputs=_COUNTED)
        .end()
        .to_xml(),
        "campaign-events.bpmn": process("campaign-events")
        .start()
        .service_task("each", type=_EACH, retries=str(RETRIES), outputs=_COUNTED)
        .multi_instance("=[1, 2, 3]")
        .timer_catch("pause", duration="PT0.5S")
        .call_activity("call", process=_CALLED)
        .message_catch("confirmed", message="campaign-confirmed", key=f"={REFERENCE}", outputs=_COUNTED)
        .end()
        .to_xml(),
    },
    jobs={_EACH: 3, _CALLED: 1},
    elements={"campaign-events": 9, _CALLED: 3},
    message="campaign-confirmed",
)


def small(process_id: str) -> bytes:
    """Another process, so that there is something to deploy."""
    return process(process_id).start().end().to_xml()
