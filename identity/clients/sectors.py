"""Sectors of clients with pairwise subjects: OpenID Connect Core 1.0 §8.1, OpenID Connect Dynamic Registration §5.

A client joins the sector of a host only when a document at that host lists its redirect URIs. No client therefore gets
the subjects of a sector that did not admit it.
"""

import msgspec

from identity.delivery.http.destinations import is_loopback
from identity.delivery.http.documents import Documents, UnreadableDocument
from identity.directory.client import Client, sector_hosts
from identity.foundation.vocabulary import SubjectType
from server.platform.errors import InvalidArgument


class Sectors:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def are_asked(self, before: Client, client: Client) -> bool:
        """Whether `expect_admitted` reads a document, because the address or the redirect URIs changed."""
        return bool(client.sector_identifier_uri) and _terms(before) != _terms(client)

    async def expect_admitted(self, before: Client, client: Client) -> None:
        """Raises InvalidArgument unless the document at `sector_identifier_uri` lists all redirect URIs."""
        if not self.are_asked(before, client):
            return
        try:
            text = await self._documents.read(client.sector_identifier_uri)
            listed = msgspec.json.decode(text, type=frozenset[str])
        except UnreadableDocument as error:
            raise InvalidArgument("sector_identifier_uri: the document cannot be read") from error
        except (msgspec.MsgspecError, RecursionError) as error:
            raise InvalidArgument("sector_identifier_uri: expected a JSON array of addresses") from error
        if not listed.issuperset(client.redirect_uris):
            raise InvalidArgument("sector_identifier_uri: expected a document that lists all redirect_uris")


def expect_sector(
    subject_type: SubjectType, sector_identifier_uri: str, redirect_uris: tuple[str, ...]
) -> None:
    """Expect a sector for pairwise subjects; raises InvalidArgument.

    Without a document, the sector is the host of all redirect URIs. A loopback host belongs to no single client.
    """
    if sector_identifier_uri and not redirect_uris:
        raise InvalidArgument("sector_identifier_uri: expected redirect_uris, which its document has to list")
    if subject_type is SubjectType.PUBLIC or sector_identifier_uri:
        return
    hosts = sector_hosts("", redirect_uris)
    if len(hosts) != 1 or not hosts[0] or is_loopback(hosts[0]):
        raise InvalidArgument(
            "subject_type: pairwise needs sector_identifier_uri, or redirect_uris of one host that is not loopback"
        )


def _terms(client: Client) -> tuple[str, frozenset[str]]:
    return client.sector_identifier_uri, frozenset(client.redirect_uris)
