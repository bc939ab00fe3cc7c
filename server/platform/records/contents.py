"""Records as JSON text that programs of two consecutive versions can read."""

from typing import Any, Generic

import msgspec

from server.platform.records.port import Kind, R


class Contents(Generic[R]):
    def __init__(self, kind: Kind[R]) -> None:
        # Fields that hide later values from the older version, each with the member that holds the full
        # value.
        self._later = {field: (f"whole_{field}", texts) for field, texts in kind.later.items()}
        self._instead = {field: (f"whole_{field}", texts) for field, texts in kind.instead.items()}
        self._wholes = {field: whole for field, (whole, _) in (*self._later.items(), *self._instead.items())}
        self._decoder = msgspec.json.Decoder(kind.type)
        self._encoder = msgspec.json.Encoder()

    def written(self, record: R) -> str:
        content = self._encoder.encode(record)
        later = [
            field for field, (_, texts) in self._later.items() if not texts.isdisjoint(getattr(record, field))
        ]
        replaced = [field for field, (_, texts) in self._instead.items() if getattr(record, field) in texts]
        if not later and not replaced:
            return content.decode()
        document: dict[str, Any] = msgspec.json.decode(content)
        for field in later:
            whole, texts = self._later[field]
            document[whole] = document[field]
            document[field] = [text for text in document[field] if text not in texts]
        for field in replaced:
            whole, instead = self._instead[field]
            document[whole] = document[field]
            document[field] = instead[document[field]]
        return self._encoder.encode(document).decode()

    def read(self, content: str) -> R:
        if not any(f'"{whole}"' in content for whole in self._wholes.values()):
            return self._decoder.decode(content)
        document: dict[str, Any] = msgspec.json.decode(content)
        for field, whole in self._wholes.items():
            if whole in document:
                document[field] = document.pop(whole)
        # Encodes again, because the decoder reads types that JSON lacks, such as times and bytes, from text
        # only.
        return self._decoder.decode(self._encoder.encode(document))
