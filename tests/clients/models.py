"""Models of the scenario that clients over HTTP go through."""

from pathlib import Path

from server.bpmn.builder import process


def write_models(folder: Path, client: str) -> None:
    """`shop`: fifty orders, each a job. `approval`: a user task, a message, a signal. `route`, and its next version.

    Ids of processes and types of jobs end with the name of the client.
    """
    folder.mkdir(exist_ok=True)
    models = {
        "shop": process(f"shop-{client}").start().service_task("pack", type=f"pack-{client}"),
        "approval": process(f"approval-{client}")
        .start()
        .user_task("approve")
        .message_catch("paid", message="paid", key="=order")
        .signal_catch("released", signal="released"),
        "route": process(f"route-{client}")
        .start()
        .service_task("first", type=f"first-{client}")
        .service_task("second", type=f"second-{client}"),
        "route-next": process(f"route-{client}").start().service_task("begin", type=f"begin-{client}"),
    }
    for name, model in models.items():
        (folder / f"{name}.bpmn").write_bytes(model.end().to_xml())
