"""Parts of the JSON document with everything that is stored about one person, as the endpoint and the CLI write it."""

from collections.abc import Iterable

import orjson

FORMAT = 1
DEFAULT_TENANT = "default"


def beginning(*, user_id: str, tenant_id: str, exported_at: int) -> bytes:
    """Return the document up to the sections of the provider."""
    members = {
        "format": FORMAT,
        "user_id": user_id,
        "tenant_id": tenant_id or DEFAULT_TENANT,
        "exported_at": exported_at,
    }
    return orjson.dumps(members)[:-1] + b',"identity":'


BETWEEN = b',"processes":'
WITHOUT_PROCESSES = b"null"
END = b"}"


class Sections:
    """Writes an object with a list of records for each section; records of one section come together."""

    def __init__(self) -> None:
        self._current = ""

    def written(self, records: Iterable[tuple[str, bytes]]) -> bytes:
        """Return the text of the next records, which begins the object if they are the first."""
        parts = []
        for section, record in records:
            if section == self._current:
                parts.append(b"," + record)
                continue
            parts.append((b"]," if self._current else b"{") + orjson.dumps(section) + b":[" + record)
            self._current = section
        return b"".join(parts)

    def end(self) -> bytes:
        return b"]}" if self._current else b"{}"
