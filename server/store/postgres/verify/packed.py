"""Checks that packed rows can be read: definitions, stored answers, commands in the outbox."""

from collections.abc import Callable

import msgspec

from server.engine.formats import UnreadableFormat
from server.store.postgres.verify.findings import Findings
from server.store.postgres.verify.snapshot import Snapshot

UNREADABLE = (msgspec.MsgspecError, UnreadableFormat, KeyError, ValueError)

_DEFINITIONS = "SELECT process_definition_key, content FROM gnomon.definition_document"
_ANSWERS = "SELECT tenant_id || ' ' || idempotency_key, answer FROM gnomon.idempotency"
_COMMANDS = "SELECT number || ' from ' || source || ' to ' || target, command FROM gnomon.outbox"


async def definitions(snapshot: Snapshot) -> Findings:
    """Definitions that cannot be read, or whose key differs from their row's."""
    findings = snapshot.findings()
    async for chunk in snapshot.chunks(_DEFINITIONS):
        for key, content in chunk:
            try:
                is_right = snapshot.formats.definition(content).key == key
            except UNREADABLE:
                is_right = False
            if not is_right:
                findings.add(f"definition {key}")
    return findings


async def answers(snapshot: Snapshot) -> Findings:
    return await _unreadable(snapshot, _ANSWERS, name="answer", read=snapshot.formats.answer)


async def commands(snapshot: Snapshot) -> Findings:
    return await _unreadable(snapshot, _COMMANDS, name="command", read=snapshot.formats.command)


async def _unreadable(
    snapshot: Snapshot, text: str, *, name: str, read: Callable[[bytes], object]
) -> Findings:
    findings = snapshot.findings()
    async for chunk in snapshot.chunks(text):
        for key, content in chunk:
            try:
                read(content)
            except UNREADABLE:
                findings.add(f"{name} {key}")
    return findings
