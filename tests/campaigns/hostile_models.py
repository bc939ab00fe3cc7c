"""Models that are legal and as expensive as a tenant can make them."""

from collections.abc import Mapping

from server.bpmn.builder import process

COMPREHENSIONS, EXPRESSIONS, FAN_OUT, RULES, VERSIONS = (
    "comprehensions",
    "expressions",
    "fan-out",
    "rules",
    "versions",
)
LARGE, RECURSION, ITEMS = "large", "recursion", "items"

_NESTED = "=count(for i in 1..1000, j in 1..1000 return i * j)"
_CATASTROPHIC = '=count(for i in 1..200 return matches("' + "a" * 30 + 'b", "(a|aa)+$"))'


def comprehensions(tasks: int = 10) -> bytes:
    """Manual tasks in a row, each with a nested comprehension over a million pairs."""
    builder = process(COMPREHENSIONS).start()
    for number in range(tasks):
        builder.node("manualTask", f"task-{number}", outputs={f"found{number}": _NESTED})
    return builder.end().to_xml()


def expressions() -> bytes:
    """A task that matches 200 regular expressions which backtrack without end."""
    return (
        process(EXPRESSIONS)
        .start()
        .node("manualTask", "task", outputs={"found": _CATASTROPHIC})
        .end()
        .to_xml()
    )


def fan_out(children: int) -> bytes:
    """So many jobs at once in one process instance."""
    builder = process(FAN_OUT).start().parallel_gateway("split")
    for number in range(children):
        builder.branch("split").service_task(f"job-{number}", type="hostile").end()
    return builder.to_xml()


def large() -> bytes:
    """A job whose process instance has the variables that its caller gives it."""
    return process(LARGE).start().service_task("job", type=LARGE).end().to_xml()


def recursion() -> bytes:
    """A process that calls itself twice; the expression hides that from the checks of a deployment."""
    return (
        process(RECURSION)
        .start()
        .parallel_gateway("split")
        .call_activity("left", process=f'="{RECURSION}"')
        .end()
        .branch("split")
        .call_activity("right", process=f'="{RECURSION}"')
        .end()
        .to_xml()
    )


def items(count: int) -> bytes:
    """A multi-instance body with so many jobs at once."""
    return (
        process(ITEMS)
        .start()
        .service_task("each", type="hostile")
        .multi_instance(f"=for i in 1..{count} return i", element="i")
        .end()
        .to_xml()
    )


def versions(first: int, count: int) -> Mapping[str, bytes]:
    """Files with a new version each, of as many processes."""
    return {
        f"{VERSIONS}-{number}.bpmn": process(f"{VERSIONS}-{number}")
        .start()
        .manual_task(f"task-{first}")
        .end()
        .to_xml()
        for number in range(count)
    }


def rules(version: int, count: int) -> bytes:
    """A decision table of so many rules, each with texts that no rule of any version has."""
    entries = "".join(
        f"<rule><inputEntry><text>[{number}..{number + version + 9})</text></inputEntry>"
        f"<inputEntry><text>? + {number} &gt; {version}</text></inputEntry>"
        f'<outputEntry><text>"{version}-{number}"</text></outputEntry></rule>'
        for number in range(count)
    )
    return f"""<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="rules" namespace="urn:gnomon">
<decision id="{RULES}" name="rules"><decisionTable hitPolicy="COLLECT">
<input><inputExpression><text>a</text></inputExpression></input>
<input><inputExpression><text>b</text></inputExpression></input>
<output name="found"/>{entries}</decisionTable></decision></definitions>""".encode()
