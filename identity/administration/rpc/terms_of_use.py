"""TermsOfUseService."""

from collections.abc import Sequence

from gnomon.identity.v1 import terms_of_use_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations
from identity.access.rpc.records import message_of
from identity.administration.terms_of_use import ListedTerms, TermsAdministration
from identity.authentication.rpc.shown_terms import shown_terms
from identity.directory.terms_of_use.terms import TermsAcceptance
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.foundation.continuation import MOST_OF_A_PAGE, id_of, page_of
from identity.foundation.tenants import Tenant


class TermsOfUseServicer(Operations):
    def __init__(self, admission: Admission, administration: TermsAdministration, terms: TermsOfUse) -> None:
        self._administration = administration
        self._terms = terms
        super().__init__(
            admission,
            {
                pb.ListTermsRequest: administration.all,
                pb.PublishTermsRequest: administration.publish,
                pb.GetTermsRequest: self._get,
                pb.AddTermsTextRequest: administration.add_text,
                pb.WithdrawTermsRequest: administration.withdraw,
                pb.ListTermsAcceptancesRequest: self._acceptances,
                pb.ListAcceptedTermsRequest: administration.accepted,
                pb.GetShownTermsRequest: self._shown,
            },
            shows={ListedTerms: _message},
        )

    async def _get(self, tenant: Tenant, version: str) -> tuple[ListedTerms, Sequence[pb.TermsText]]:
        found, texts = await self._administration.get(tenant, version)
        return found, [pb.TermsText(language=language, text=text) for language, text in texts]

    async def _acceptances(
        self, tenant: Tenant, version: str, page_size: int, continuation_token: str
    ) -> tuple[Sequence[TermsAcceptance], str]:
        most = page_size or MOST_OF_A_PAGE
        after = id_of(continuation_token)
        found = await self._administration.acceptances(tenant, version, after=after, most=most + 1)
        return page_of(found, most, lambda acceptance: acceptance.user_id)

    async def _shown(self, tenant: Tenant, version: str, languages: Sequence[str]) -> pb.ShownTerms:
        found = await self._terms.public(tenant, version)
        return shown_terms(found, *await self._terms.text(tenant, found, languages))


def _message(listed: ListedTerms) -> pb.Terms:
    return message_of(pb.Terms, listed.version, current=listed.is_current)
