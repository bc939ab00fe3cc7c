"""Documents of other servers, without a network."""

from dataclasses import dataclass, field

from identity.delivery.http.documents import UnreadableDocument


@dataclass
class KnownDocuments:
    """Documents by address; `asked` are the requested addresses, `accepted` the last Accept header."""

    texts: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    accepted: str = ""

    async def read(self, uri: str, /, *, accept: str = "application/json") -> str:
        self.asked.append(uri)
        self.accepted = accept
        if uri not in self.texts:
            raise UnreadableDocument
        return self.texts[uri]
