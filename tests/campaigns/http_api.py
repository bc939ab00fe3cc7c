"""The campaign's requests over HTTP; several edges take turns, and what the server said is kept as it came."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle

import aiohttp

from tests.campaigns.api import (
    ATTEMPT_SECONDS,
    BUFFERED_MILLISECONDS,
    JOB_MILLISECONDS,
    POLL_MILLISECONDS,
    Job,
    NotAnswered,
    Refused,
)
from tests.campaigns.model import AT_COMPLETION, AT_START, REFERENCE

Json = Mapping[str, object]
NOTHING: Json = {}

# 502 and 504 would be a proxy's; here only the edge answers.
NO_ANSWERS = frozenset({429, 503, 504})
CONNECTIONS = 200


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def is_success(self) -> bool:
        return self.status < 300


@asynccontextmanager
async def connected(
    urls: Sequence[str], token: str = "", *, attempt_seconds: float = ATTEMPT_SECONDS, tenant_id: str = ""
) -> AsyncIterator["HttpApi"]:
    async with session_of(token, attempt_seconds, tenant_id) as session:
        yield HttpApi(session, urls)


def session_of(token: str, attempt_seconds: float, tenant_id: str = "") -> aiohttp.ClientSession:
    """Return a session of a client, which names the tenant if it has several; without a token, of nobody."""
    authorized = {"authorization": f"Bearer {token}"} if token else {}
    named = {"x-tenant-id": tenant_id} if tenant_id else {}
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=CONNECTIONS),
        timeout=aiohttp.ClientTimeout(total=attempt_seconds),
        headers={**authorized, **named},
    )


class HttpApi:
    """`unanswered` counts why attempts had no answer."""

    def __init__(self, session: aiohttp.ClientSession, urls: Sequence[str]) -> None:
        self.unanswered: Counter[str] = Counter()
        self._session = session
        self._turns = cycle(urls)

    async def deploy(self, name: str, content: bytes) -> None:
        await self.deploy_all({name: content})

    async def deploy_all(self, files: Mapping[str, bytes]) -> None:
        """In one deployment."""
        form = aiohttp.FormData()
        for name, content in files.items():
            form.add_field("resources", content, filename=name)
        _expect_success(await self._answer("POST", "/v2/deployments", data=form))

    async def store(self, name: str, content: bytes) -> str:
        """The id of a document."""
        form = aiohttp.FormData()
        form.add_field("file", content, filename=name)
        answer = await self._answer("POST", "/v2/documents", data=form)
        _expect_success(answer)
        return str(json.loads(answer.body)["documentId"])

    async def start(self, process_id: str, *, idempotency_key: str, variables: Json = NOTHING) -> int:
        variables = {**AT_START, REFERENCE: idempotency_key, **variables}
        body = {"processDefinitionId": process_id, "variables": variables}
        return int(
            str((await self._post("/v2/process-instances", body, idempotency_key))["processInstanceKey"])
        )

    async def publish(self, name: str, correlation_key: str, *, idempotency_key: str) -> int:
        body = {
            "name": name,
            "correlationKey": correlation_key,
            "timeToLive": BUFFERED_MILLISECONDS,
            "variables": AT_COMPLETION,
        }
        return int(str((await self._post("/v2/messages/publication", body, idempotency_key))["messageKey"]))

    async def cancel(self, process_instance_key: int) -> None:
        await self._post(f"/v2/process-instances/{process_instance_key}/cancellation", {})

    async def activate(self, job_type: str, most: int) -> Sequence[Job]:
        body = {
            "type": job_type,
            "worker": "campaign",
            "timeout": JOB_MILLISECONDS,
            "maxJobsToActivate": most,
            "requestTimeout": POLL_MILLISECONDS,
        }
        jobs = (await self._post("/v2/jobs/activation", body))["jobs"]
        assert isinstance(jobs, list)
        return [Job(int(job["jobKey"]), int(job["processInstanceKey"]), job["retries"]) for job in jobs]

    async def complete(self, job_key: int, *, idempotency_key: str) -> None:
        await self._post(f"/v2/jobs/{job_key}/completion", {"variables": AT_COMPLETION}, idempotency_key)

    async def fail(self, job_key: int, *, retries: int, idempotency_key: str) -> None:
        body = {"retries": retries, "errorMessage": "on purpose"}
        await self._post(f"/v2/jobs/{job_key}/failure", body, idempotency_key)

    async def give_retries(self, job_key: int, *, idempotency_key: str) -> None:
        await self._send("PATCH", f"/v2/jobs/{job_key}", {"changeset": {"retries": 1}}, idempotency_key)

    async def incidents_of(self, job_key: int) -> Sequence[int]:
        items = (await self._post("/v2/incidents/search", {"filter": {"jobKey": str(job_key)}}))["items"]
        assert isinstance(items, list)
        return [int(item["incidentKey"]) for item in items]

    async def resolve(self, incident_key: int, *, idempotency_key: str) -> None:
        await self._post(f"/v2/incidents/{incident_key}/resolution", {}, idempotency_key)

    async def count(self, process_id: str, state: str) -> int:
        body = {"filter": {"processDefinitionId": process_id, "state": state}, "page": {"limit": 1}}
        page = (await self._post("/v2/process-instances/search", body))["page"]
        assert isinstance(page, dict)
        return int(page["totalItems"])

    async def _post(self, path: str, body: Json, idempotency_key: str | None = None) -> Json:
        return await self._send("POST", path, body, idempotency_key)

    async def _send(self, method: str, path: str, body: Json, idempotency_key: str | None) -> Json:
        if idempotency_key is None:
            answer = await self._answer(method, path, json=body)
        else:
            answer = await self.command(method, path, body, idempotency_key=idempotency_key)
        _expect_success(answer)
        return dict(json.loads(answer.body)) if answer.body else {}

    async def command(self, method: str, path: str, body: Json, *, idempotency_key: str) -> Answer:
        """Any answer; raises NotAnswered."""
        return await self._answer(method, path, json=body, headers={"idempotency-key": idempotency_key})

    async def ask(
        self,
        method: str,
        path: str,
        body: Json | None = None,
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Any answer; raises NotAnswered."""
        return await self._answer(method, path, json=body, data=form, headers=headers)

    async def _answer(self, method: str, path: str, **request: object) -> Answer:
        url = next(self._turns)
        try:
            async with self._session.request(method, url + path, **request) as response:  # type: ignore[arg-type]  # passed on
                answer = Answer(response.status, await response.read())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self.unanswered[type(error).__name__] += 1
            raise NotAnswered(type(error).__name__) from error
        if answer.status in NO_ANSWERS:
            self.unanswered[f"{answer.status}"] += 1
            raise NotAnswered(f"{answer.status}")
        return answer


def _expect_success(answer: Answer) -> None:
    if not answer.is_success:
        raise Refused(f"{answer.status}: {answer.body.decode()}")
