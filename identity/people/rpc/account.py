"""AccountService."""

from gnomon.identity.v1 import account_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.authentication.reauthentication.proofs import Proof, Proofs
from identity.authentication.rpc.browser import session_cookie
from identity.directory.user import UserId
from identity.foundation.tenants import Tenants
from identity.people.account.addresses import AddressChanges
from identity.people.account.own_account import OwnAccount
from identity.people.rpc.people import user_message, values_of
from identity.people.user_changes import UserChange
from server.platform.call import Call
from server.platform.clock import Clock


class AccountServicer:
    def __init__(
        self,
        tenants: Tenants,
        admission: Admission,
        account: OwnAccount,
        *,
        addresses: AddressChanges,
        proofs: Proofs,
        clock: Clock,
    ) -> None:
        self._tenants = tenants
        self._admission = admission
        self._account = account
        self._addresses = addresses
        self._proofs = proofs
        self._clock = clock

    async def issue_modification_token(
        self, request: pb.IssueModificationTokenRequest, _call: Call
    ) -> pb.IssueModificationTokenResponse:
        person = await self._admission.of_person(request)
        issued = await self._proofs.issue(person, password=request.password, factor_code=request.passkey_code)
        return pb.IssueModificationTokenResponse(
            modification_token=issued.token, expires_at=int(issued.expires_at.timestamp())
        )

    async def update_account(self, request: pb.UpdateAccountRequest, _call: Call) -> pb.UpdateAccountResponse:
        person, change = await self._admission.of_person(request), _change(request)
        proof = Proof(request.password_current, request.modification_token)
        if change.password is None:
            user = await self._account.change(person, change, proof)
            return pb.UpdateAccountResponse(user=user_message(user))
        user, renewed = await self._account.change_with_password(person, change, proof)
        cookie = session_cookie(renewed.cookie, renewed.session, self._clock)
        return pb.UpdateAccountResponse(user=user_message(user), cookie=cookie)

    async def open_address_change(
        self, request: pb.OpenAddressChangeRequest, _call: Call
    ) -> pb.OpenAddressChangeResponse:
        tenant = self._tenants.find(request.tenant_id)
        email = await self._addresses.find(tenant, UserId(request.user_id), request.code)
        return pb.OpenAddressChangeResponse(email=email)

    async def confirm_address_change(
        self, request: pb.ConfirmAddressChangeRequest, _call: Call
    ) -> pb.ConfirmAddressChangeResponse:
        tenant = self._tenants.find(request.tenant_id)
        email = await self._addresses.confirm(
            tenant, UserId(request.user_id), request.code, peer_address=request.peer_address
        )
        return pb.ConfirmAddressChangeResponse(email=email)

    async def update_preferred_username(
        self, request: pb.UpdatePreferredUsernameRequest, _call: Call
    ) -> pb.UpdatePreferredUsernameResponse:
        tenant, actor = await self._admission.of(request)
        user = await self._account.change_username(
            tenant,
            UserId(request.user_id),
            request.preferred_username,
            is_forced=request.force_overwrite,
            actor=actor,
        )
        return pb.UpdatePreferredUsernameResponse(user=user_message(user))

    async def check_account_deletion(
        self, request: pb.CheckAccountDeletionRequest, _call: Call
    ) -> pb.CheckAccountDeletionResponse:
        await self._admission.of_person(request)
        self._account.expect_deletable()
        return pb.CheckAccountDeletionResponse()

    async def delete_account(self, request: pb.DeleteAccountRequest, _call: Call) -> pb.DeleteAccountResponse:
        proof = Proof(modification_token=request.modification_token)
        await self._account.delete(await self._admission.of_person(request), proof)
        return pb.DeleteAccountResponse()


def _change(request: pb.UpdateAccountRequest) -> UserChange:
    return UserChange(
        email=request.email if request.HasField("email") else None,
        given_name=request.given_name if request.HasField("given_name") else None,
        family_name=request.family_name if request.HasField("family_name") else None,
        language=request.language if request.HasField("language") else None,
        values=values_of(request.user_values),
        password=request.password_new if request.HasField("password_new") else None,
    )
