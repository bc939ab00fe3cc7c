"""AccountService."""

from gnomon.identity.v1 import account_service_pb2 as pb
from identity.access.person import Person
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of, record_of
from identity.authentication.reauthentication.modification_tokens import IssuedToken
from identity.authentication.reauthentication.proofs import Proof, Proofs
from identity.authentication.rpc.browser import session_cookie
from identity.directory.user import User
from identity.people.account.addresses import AddressChanges
from identity.people.account.own_account import OwnAccount
from identity.people.rpc.people import user_message, values_of
from identity.people.user_changes import UserChange
from server.platform.clock import Clock

_NOT_CHANGED = ("tenant_id", "caller", "user_id", "user_values", "password_current", "modification_token")


class AccountServicer(Operations):
    def __init__(
        self,
        admission: Admission,
        account: OwnAccount,
        *,
        addresses: AddressChanges,
        proofs: Proofs,
        clock: Clock,
    ) -> None:
        self._account = account
        self._clock = clock
        super().__init__(
            admission,
            {
                pb.IssueModificationTokenRequest: named(proofs.issue, factor_code="passkey_code"),
                pb.UpdateAccountRequest: self._update,
                pb.OpenAddressChangeRequest: addresses.find,
                pb.ConfirmAddressChangeRequest: addresses.confirm,
                pb.UpdatePreferredUsernameRequest: named(
                    account.change_username, name="preferred_username", is_forced="force_overwrite"
                ),
                pb.CheckAccountDeletionRequest: self._check_deletion,
                pb.DeleteAccountRequest: self._delete,
            },
            shows={IssuedToken: _issued, User: user_message},
        )

    async def _update(self, person: Person, request: pb.UpdateAccountRequest) -> pb.UpdateAccountResponse:
        change, proof = _change(request), Proof(request.password_current, request.modification_token)
        if change.password is None:
            user = await self._account.change(person, change, proof)
            return pb.UpdateAccountResponse(user=user_message(user))
        user, renewed = await self._account.change_with_password(person, change, proof)
        cookie = session_cookie(renewed.cookie, renewed.session, self._clock)
        return pb.UpdateAccountResponse(user=user_message(user), cookie=cookie)

    async def _check_deletion(self, person: Person) -> None:
        self._account.expect_deletable()

    async def _delete(self, person: Person, modification_token: str) -> None:
        await self._account.delete(person, Proof(modification_token=modification_token))


def _issued(issued: IssuedToken) -> pb.IssueModificationTokenResponse:
    return message_of(pb.IssueModificationTokenResponse, issued, {"modification_token": "token"})


def _change(request: pb.UpdateAccountRequest) -> UserChange:
    names = {"password_new": "password"}
    return record_of(UserChange, request, names, without=_NOT_CHANGED, values=values_of(request.user_values))
