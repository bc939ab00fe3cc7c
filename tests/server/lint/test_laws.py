"""Laws of the linter for every model, however it was broken."""

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from server.bpmn.builder import ad_hoc_sub_process, definitions, event_sub_process, process
from server.bpmn.compile import compile_definitions
from server.bpmn.reader import read
from server.lint.linter import lint, refusals

PROCESS = (
    process("order", version_tag="1")
    .start("start")
    .service_task("charge", type="=kind", retries="=3", headers={"a": "1"}, inputs={"x.y": "=1", "z": None})
    .exclusive_gateway("decide")
    .flow(condition="=x.y > 1", element_id="large")
    .parallel_gateway("fork")
    .service_task("ship", type="ship", tag="sendTask", outputs={"sent": "=true"})
    .throw_message("write", type="=kind", outputs={"written": "=true"})
    .parallel_gateway("join")
    .end("done")
    .branch("fork")
    .manual_task("pack")
    .boundary_compensation("unpacked", on="pack")
    .manual_task("unpack")
    .branch("pack")
    .parallel_gateway("packed")
    .throw_compensation("undo", activity="pack")
    .condition_catch("packed_well", condition="=x.y > 2", names="x", changes="create")
    .end_message("announce", type="announce")
    .branch("packed")
    .connect_to("join")
    .branch("decide")
    .flow(default=True)
    .task("reject")
    .end_error("rejected", error="refused")
    .branch("fork")
    .end_terminate("stop")
    .branch("fork")
    .inclusive_gateway("some")
    .flow(default=True)
    .throw_link("off", link="there")
    .catch_link("on", link="there")
    .inclusive_gateway("met")
    .end_escalation("told", escalation="overdue")
    .branch("some")
    .flow(condition="=x.y > 2")
    .event_based_gateway("race")
    .timer_catch("soon", duration="PT1H")
    .connect_to("met")
    .branch("race")
    .timer_catch("never", date="=x.z")
    .receive_task("hear", message="heard", key="=x.z")
    .end()
    .branch("race")
    .message_catch("asked", message='="asked-" + x.z', key="=x.z")
    .end()
    .boundary_message("stopped", on="hear", message="stopped", key="=x.z")
    .end()
    .branch("fork")
    .embed_ad_hoc(
        ad_hoc_sub_process("any").task("one").apart().task("two"),
        active='=["one"]',
        until="=enough",
        output="=x",
        outputs_to="all",
    )
    .beside(event_sub_process("help").start_timer("late", is_interrupting=False, cycle="R/PT1H").end())
)
SOUND = definitions(
    PROCESS.beside(event_sub_process("mend").start_error("failed", error="lost").end()),
    errors={"refused": "=code", "lost": "lost"},
    escalations={"overdue": "late"},
)
WORDS = st.sampled_from(
    ["", " ", "start", "charge", "decide", "large", "=", "=x", "= (", "a.b", "null", "true"]
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Draw a sound model with some attributes changed and some elements lost, doubled or renamed."""
    root = etree.fromstring(SOUND)
    for _ in range(draw(st.integers(1, 4))):
        element = draw(st.sampled_from(list(root.iter())[1:]))
        match draw(st.sampled_from(["set", "drop", "remove", "double", "text", "tag"])):
            case "set":
                element.set(draw(st.sampled_from(sorted(element.attrib) or ["id"])), draw(WORDS))
            case "drop":
                element.attrib.pop(draw(st.sampled_from(sorted(element.attrib) or ["id"])), None)
            case "double":
                element.append(etree.fromstring(etree.tostring(element)))
            case "tag":
                element.tag = draw(st.sampled_from(sorted({str(other.tag) for other in root.iter()})))
            case "text":
                element.text = draw(WORDS)
            case _ if element.getparent() is not root:
                element.getparent().remove(element)
    return etree.tostring(root)


def test_the_sound_model_is_sound() -> None:
    assert refusals(lint(read(SOUND))) == ()


@given(damaged())
def test_a_model_is_refused_or_compiles(xml: bytes) -> None:
    definitions = read(xml)

    refused = refusals(lint(definitions))

    assert refused or compile_definitions(definitions)
