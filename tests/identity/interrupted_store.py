"""A record store that stops working, so that a change is interrupted at any of its steps."""

from collections.abc import Awaitable, Callable
from typing import Any

from server.platform.audit import AuditNote
from server.platform.records import Kind, Records, RecordStore
from server.platform.records.port import R


class Killed(BaseException):
    """The process ends here."""


class InterruptedStore:
    """Answers as many calls as are left, all of them at first; each later one raises the fault."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._calls: int | None = None
        self._last = ""
        self._fault: BaseException = Killed()
        self.is_interrupted = False

    def stop_after(self, calls: int, fault: BaseException) -> None:
        self._calls, self._fault, self.is_interrupted = calls, fault, False

    def stop_after_a(self, method: str, fault: BaseException) -> None:
        """Stop after the next call of a method."""
        self._last, self._fault = method, fault

    def go_on(self) -> None:
        self._calls, self._last = None, ""

    def of(self, kind: Kind[R]) -> Records[R]:
        return _Interrupted(self._store.of(kind), self.count)  # type: ignore[return-value]  # by its methods

    async def note(self, note: AuditNote) -> None:
        self.count("note")
        await self._store.note(note)

    def count(self, method: str) -> None:
        if method == self._last:
            self._calls = 1
        if self._calls is None:
            return
        if self._calls == 0:
            self.is_interrupted = True
            raise self._fault
        self._calls -= 1


class _Interrupted:
    def __init__(self, records: Any, count: Callable[[str], None]) -> None:
        self._records = records
        self._count = count

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._records, name)

        async def counted(*arguments: Any, **options: Any) -> Any:
            self._count(name)
            return await method(*arguments, **options)

        return counted
