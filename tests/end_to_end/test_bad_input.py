"""A bad request is answered with its problem document and changes nothing."""

import json
from collections.abc import Iterator

import httpx
import pytest

from server.bpmn.builder import process
from server.platform.policy import Mode
from tests.end_to_end.servers import Server
from tests.server.dmn.models import decision, definitions, input_data, table

MEBIBYTE = 1024 * 1024
FILE = "model.bpmn"
SIMPLE = process("simple").start().service_task("task", type="idle").end().to_xml()


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with server.session() as client:
        client.post("/v2/deployments", files={"resources": (FILE, SIMPLE)}).raise_for_status()
        yield client


def _problem(answer: httpx.Response) -> tuple[int, str]:
    """Status and type of a problem document that has all its members and names the request path."""
    document = answer.json()
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert {"type", "title", "status", "detail", "instance"} <= set(document)
    assert document["instance"] == answer.request.url.path
    assert document["status"] == answer.status_code
    return answer.status_code, document["type"].removeprefix("urn:bpm:error:")


def _counts(client: httpx.Client) -> list[int]:
    searches = ("process-instances", "jobs", "incidents", "variables", "process-definitions")
    answers = [client.post(f"/v2/{name}/search", json={}).raise_for_status() for name in searches]
    return [answer.json()["page"]["totalItems"] for answer in answers]


START = "/v2/process-instances"
DEEP = b'{"processDefinitionId":"simple","variables":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}"


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        pytest.param("POST", START, b"{", (400, "invalid-argument"), id="malformed JSON"),
        pytest.param("POST", START, b"[]", (400, "invalid-argument"), id="not an object"),
        pytest.param("POST", START, b"\xff\xfe", (400, "invalid-argument"), id="not UTF-8"),
        pytest.param("POST", START, DEEP, (400, "invalid-argument"), id="10 000-deep JSON"),
        pytest.param("POST", START, b"[" * 100_000, (400, "invalid-argument"), id="100 000 open brackets"),
        pytest.param("POST", START, b"{}", (400, "invalid-argument"), id="no definition selector"),
        pytest.param(
            "POST",
            START,
            b'{"processDefinitionId":"simple","processDefinitionKey":"5"}',
            (400, "invalid-argument"),
            id="two definition selectors",
        ),
        pytest.param(
            "POST", START, b'{"processDefinitionId":5}', (400, "invalid-argument"), id="number for a text"
        ),
        pytest.param(
            "POST", START, b'{"processDefinitionKey":5}', (400, "invalid-argument"), id="number for a key"
        ),
        pytest.param(
            "POST",
            START,
            b'{"processDefinitionId":"simple","colour":"red"}',
            (400, "invalid-argument"),
            id="unknown property",
        ),
        pytest.param(
            "POST",
            START,
            b'{"processDefinitionId":"simple","variables":[1]}',
            (400, "invalid-argument"),
            id="variables that are no object",
        ),
        pytest.param(
            "POST", START, b'{"processDefinitionId":"nobody"}', (404, "not-found"), id="unknown process"
        ),
        pytest.param("GET", f"{START}/0012", b"", (400, "invalid-argument"), id="key with leading zeros"),
        pytest.param("GET", f"{START}/abc", b"", (400, "invalid-argument"), id="key that is no number"),
        pytest.param("GET", f"{START}/-5", b"", (400, "invalid-argument"), id="negative key"),
        pytest.param(
            "GET", f"{START}/9223372036854775808", b"", (400, "invalid-argument"), id="key beyond 64 bits"
        ),
        pytest.param("GET", f"{START}/5", b"", (404, "not-found"), id="unknown key"),
        pytest.param(
            "POST",
            "/v2/jobs/5/failure",
            b'{"retryBackOff":-1}',
            (400, "invalid-argument"),
            id="negative back-off",
        ),
        pytest.param(
            "POST",
            "/v2/jobs/5/failure",
            b'{"leaseToken":"x"}',
            (400, "invalid-argument"),
            id="the deferred property of a job failure",
        ),
        pytest.param("POST", "/v2/jobs/5/failure", b"", (404, "not-found"), id="failure of an unknown job"),
        pytest.param(
            "POST",
            "/v2/jobs/activation",
            b'{"type":"","timeout":1,"maxJobsToActivate":1}',
            (400, "invalid-argument"),
            id="blank job type",
        ),
        pytest.param(
            "POST",
            "/v2/incidents/search",
            b'{"page":{"limit":501}}',
            (400, "invalid-argument"),
            id="page larger than 500",
        ),
        pytest.param(
            "POST",
            "/v2/process-instances/5/incidents/search",
            b'{"page":{"before":"eA=="}}',
            (400, "invalid-argument"),
            id="page.before where it is not supported",
        ),
        pytest.param(
            "POST", START, b" " * (4 * MEBIBYTE + 1), (413, "payload-too-large"), id="body over 4 MiB"
        ),
        pytest.param("GET", "/v2/nothing", b"", (404, "not-found"), id="unknown path"),
    ],
)
def test_a_bad_request_gets_its_problem_and_changes_nothing(
    client: httpx.Client, method: str, path: str, body: bytes, expected: tuple[int, str]
) -> None:
    before = _counts(client)

    answer = client.request(method, path, content=body, headers={"content-type": "application/json"})

    assert _problem(answer) == expected
    assert _counts(client) == before


NOT_OFFERED = {
    Mode.EMBEDDED: ("POST", "/v1/process-instances/5/cancellation"),
    Mode.BUNDLED: ("POST", "/v2/clock/reset"),
}


def test_what_the_mode_does_not_offer_gets_its_problem(server: Server, client: httpx.Client) -> None:
    method, path = NOT_OFFERED[server.mode]

    answer = client.request(method, path)

    assert _problem(answer) == (501, "mode-not-supported")


ENTITY = b'<!DOCTYPE x [<!ENTITY a "b">]>' + SIMPLE.split(b"?>", 1)[1]
EXTERNAL = b'<!DOCTYPE x SYSTEM "file:///etc/passwd">' + SIMPLE.split(b"?>", 1)[1]
TRANSACTION = SIMPLE.replace(b"serviceTask", b"transaction")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        pytest.param(ENTITY, "xml-well-formed", id="BPMN with an entity"),
        pytest.param(EXTERNAL, "xml-well-formed", id="BPMN with an external DTD"),
        pytest.param(b"<html/>", "xml-well-formed", id="not BPMN"),
        pytest.param(b"\x00\x01", "xml-well-formed", id="not XML"),
        pytest.param(TRANSACTION, "element-type", id="an element that cannot be executed"),
        pytest.param(
            SIMPLE.replace(b'isExecutable="true"', b'isExecutable="false"'),
            "executable-process",
            id="no executable process",
        ),
    ],
)
def test_a_model_that_cannot_run_is_refused_with_the_rule_that_it_breaks(
    client: httpx.Client, content: bytes, named: str
) -> None:
    before = _counts(client)

    answer = client.post("/v2/deployments", files={"resources": (FILE, content)})

    assert _problem(answer) == (400, "invalid-argument")
    assert named in answer.json()["detail"]
    assert FILE in answer.json()["detail"]
    assert _counts(client) == before


CAMUNDA = 'xmlns:camunda="http://camunda.org/schema/1.0/dmn"'


def _with_condition(condition: str) -> bytes:
    conditioned = process("conditioned").exclusive_gateway("ok").flow(condition=condition).end("yes")
    return conditioned.branch("ok").flow(default=True).end("no").to_xml()


def _with_rule(test: str, more: str = "") -> bytes:
    rated = decision("rated", table(["status"], ["rate"], (test, "1")), inputs=["status"])
    return definitions(input_data("status"), rated, more=more)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param(
            "model.bpmn",
            _with_condition('=status == "ok"'),
            "expected '=' but found '=='",
            id="condition of a gateway",
        ),
        pytest.param(
            "model.bpmn",
            _with_condition("=status <> 1 && paid"),
            "expected '!=' but found '<>'",
            id="another condition of a gateway",
        ),
        pytest.param(
            "model.dmn",
            _with_rule("== 1"),
            "expected '=' but found '=='",
            id="rule in the standard's dialect",
        ),
        pytest.param(
            "model.dmn",
            _with_rule("=> 1", CAMUNDA),
            "expected '>=' but found '=>'",
            id="rule in Camunda's dialect",
        ),
    ],
)
def test_an_operator_of_another_language_is_refused_with_the_one_that_was_meant(
    client: httpx.Client, name: str, content: bytes, message: str
) -> None:
    before = _counts(client)

    answer = client.post("/v2/deployments", files={"resources": (name, content)})

    assert _problem(answer) == (400, "invalid-argument")
    assert message in answer.json()["detail"]
    assert _counts(client) == before


ATTRIBUTES = b" ".join(b'a%d="1"' % index for index in range(100_000))
BPMN = b'<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
DMN = b'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" '


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("model.bpmn", BPMN + ATTRIBUTES + b"/>", id="BPMN"),
        pytest.param("model.dmn", DMN + ATTRIBUTES + b"/>", id="DMN"),
    ],
)
def test_a_model_with_a_hundred_thousand_attributes_is_refused_with_their_number(
    client: httpx.Client, name: str, content: bytes
) -> None:
    before = _counts(client)

    answer = client.post("/v2/deployments", files={"resources": (name, content)})

    assert _problem(answer) == (400, "invalid-argument")
    assert "expected at most 128 attributes of an element, found 100000" in answer.json()["detail"]
    assert _counts(client) == before


def test_a_refused_element_is_named(client: httpx.Client) -> None:
    answer = client.post("/v2/deployments", files={"resources": (FILE, TRANSACTION)})

    assert "task" in answer.json()["detail"]


def test_a_deployment_is_all_or_nothing(client: httpx.Client) -> None:
    good = process("would-be-fine").start().end().to_xml()
    before = _counts(client)

    answer = client.post(
        "/v2/deployments",
        files=[("resources", ("good.bpmn", good)), ("resources", ("bad.bpmn", TRANSACTION))],
    )

    assert _problem(answer) == (400, "invalid-argument")
    assert _counts(client) == before


def test_a_job_completed_twice_has_its_effect_once(client: httpx.Client) -> None:
    started = client.post(START, json={"processDefinitionId": "simple"}).raise_for_status().json()
    request = {"type": "idle", "timeout": 60_000, "maxJobsToActivate": 100}
    jobs = client.post("/v2/jobs/activation", json=request).raise_for_status().json()["jobs"]
    (job,) = [job for job in jobs if job["processInstanceKey"] == started["processInstanceKey"]]
    first = client.post(f"/v2/jobs/{job['jobKey']}/completion", json={"variables": {"times": 1}})
    before = _counts(client)

    second = client.post(f"/v2/jobs/{job['jobKey']}/completion", json={"variables": {"times": 2}})

    assert first.status_code == 204
    assert _problem(second) == (404, "not-found")
    assert _counts(client) == before
    filter_ = {"processInstanceKey": started["processInstanceKey"], "name": "times"}
    found = client.post("/v2/variables/search", json={"filter": filter_}).json()["items"]
    assert [json.loads(item["value"]) for item in found] == [1]
