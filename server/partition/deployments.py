"""From the files of a deployment to a command, outside the partition's loop: reading, linting and compiling take time.

All or none: every problem of every file is in the one refusal, with rule and element.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from server.bpmn.reader import BpmnReadError, read
from server.engine.commands import DeployResources, Resource
from server.engine.definitions import executable_process
from server.lint.linter import describe, lint, refusals, unreadable
from server.platform.errors import InvalidArgument

BPMN_ENDINGS = (".bpmn", ".xml")


async def prepared(tenant_id: str, files: Sequence[tuple[str, bytes]]) -> DeployResources:
    """The command that deploys the files (name and content); raises InvalidArgument."""
    return await asyncio.to_thread(_prepare, tenant_id, files)


def _prepare(tenant_id: str, files: Sequence[tuple[str, bytes]]) -> DeployResources:
    problems: list[str] = []
    resources = [resource for name, content in files if (resource := _resource(name, content, problems))]
    problems += _duplicates(process_id for resource in resources for process_id in resource.process_ids)
    if problems:
        detail = "\n".join(problems)
        raise InvalidArgument(
            f"Expected to deploy new resources, but encountered the following errors:\n{detail}"
        )
    return DeployResources(tenant_id, tuple(resources))


def _resource(name: str, content: bytes, problems: list[str]) -> Resource | None:
    if not name.lower().endswith(BPMN_ENDINGS):
        problems.append(f"'{name}': expected a file that ends in {' or '.join(BPMN_ENDINGS)}")
        return None
    try:
        definitions = read(content)
    except BpmnReadError as error:
        problems.append(describe((unreadable(error),), name))
        return None
    findings = refusals(lint(definitions))
    if findings:
        problems.append(describe(findings, name))
        return None
    ids = tuple(process.id for process in definitions.processes if process.is_executable)
    for process_id in ids:
        executable_process(content, process_id)  # compiled here, kept for the partition's loop
    return Resource(name, content, hashlib.sha256(content).hexdigest(), ids)


def _duplicates(process_ids: Iterable[str]) -> list[str]:
    counts = Counter(process_ids)
    return [
        f"process-id-unique: process '{process_id}' stands in this deployment {count} times"
        for process_id, count in counts.items()
        if count > 1
    ]
