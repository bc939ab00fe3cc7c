"""The processes that are measured, for us and in the dialect of SpiffWorkflow."""

from server.bpmn.builder import ProcessBuilder, process

TASKS = 10


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

VARIABLES = {"total": 120}


def ours(model: str) -> bytes:
    return MODELS[model].to_xml()


def spiff(model: str) -> bytes:
    """A service task of ours is a user task there: both wait until somebody outside has done the work."""
    text = ours(model).decode()
    return text.replace("serviceTask", "userTask").replace(">=total", ">total").encode()
