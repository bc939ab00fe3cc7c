"""The processes that are measured, for us and in the dialect of SpiffWorkflow."""

import re

from server.bpmn.builder import ProcessBuilder, process

TASKS = 10
INSTANCES = 100


def _ten_in_a_row() -> ProcessBuilder:
    builder = process("ten").start()
    for number in range(TASKS):
        builder.service_task(f"task{number}", type="work")
    return builder.end()


MODELS = {
    "start → end": process("empty").start().end(),
    "one service task": process("one").start().service_task("task", type="work").end(),
    "ten in a row": _ten_in_a_row(),
    "exclusive gateway": (
        process("choice")
        .start()
        .exclusive_gateway("large")
        .flow(condition="=total > 100")
        .service_task("inspect", type="work")
        .end()
        .branch("large")
        .flow(default=True)
        .service_task("accept", type="work")
        .end()
    ),
    "parallel, three branches": (
        process("parallel")
        .start()
        .parallel_gateway("fork")
        .service_task("a", type="work")
        .parallel_gateway("join")
        .end()
        .branch("fork")
        .service_task("b", type="work")
        .connect_to("join")
        .branch("fork")
        .service_task("c", type="work")
        .connect_to("join")
    ),
}

MODELS |= {
    "user task": process("person").start().user_task("task").end(),
    "timer": process("clock").start().timer_catch("wait", duration="PT0S").end(),
    "message": process("mail").start().message_catch("wait", message="go", key="=string(total)").end(),
    "call activity": process("caller").start().call_activity("call", process="empty").end(),
    f"parallel multi-instance of {INSTANCES}": (
        process("many")
        .start()
        .service_task("task", type="work")
        .multi_instance(f"=for i in 1..{INSTANCES} return i")
        .end()
    ),
}
CALLED = MODELS["start → end"]
CALLED_ID = str(CALLED.element.get("id"))

VARIABLES = {"total": 120}
_LOOP = re.compile(
    r"<bpmn:multiInstanceLoopCharacteristics>.*?</bpmn:multiInstanceLoopCharacteristics>", re.DOTALL
)


def ours(model: str) -> bytes:
    return MODELS[model].to_xml()


def spiff(model: str) -> bytes:
    """A service task of ours is a user task there: both wait until somebody outside has done the work."""
    text = ours(model).decode()
    text = text.replace("serviceTask", "userTask").replace(">=total", ">total")
    text = text.replace(">PT0S<", ">'PT0S'<").replace(
        "<bpmn:callActivity", f'<bpmn:callActivity calledElement="{CALLED_ID}"'
    )
    loop = f"<bpmn:multiInstanceLoopCharacteristics><bpmn:loopCardinality>{INSTANCES}</bpmn:loopCardinality></bpmn:multiInstanceLoopCharacteristics>"
    return _LOOP.sub(loop, text).encode()
