"""The process that campaigns run: two jobs in a row, each of which the engine itself counts."""

from server.bpmn.builder import process

PROCESS_ID = "campaign"
JOB_TYPES = ("campaign-first", "campaign-second")
RETRIES = 3
ELEMENTS = 4

SMALL_PREFIX = "campaign-small-"

_COUNTED = {"count": "=count + step"}

CONTENT = (
    process(PROCESS_ID)
    .start()
    .service_task("first", type=JOB_TYPES[0], retries=str(RETRIES), outputs=_COUNTED)
    .service_task("second", type=JOB_TYPES[1], retries=str(RETRIES), outputs=_COUNTED)
    .end()
    .to_xml()
)

AT_START = {"count": 0}
AT_COMPLETION = {"step": 1}


def small(process_id: str) -> bytes:
    """Another process, so that there is something to deploy."""
    return process(process_id).start().end().to_xml()
