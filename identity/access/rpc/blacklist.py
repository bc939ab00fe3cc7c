"""BlacklistService."""

from gnomon.identity.v1 import blacklist_service_pb2 as pb
from identity.access.login_protection.blacklist import Blacklist, BlockedAddress
from identity.access.login_protection.failures import BlockScope
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of

_REACHES = {
    BlockScope.EVERYTHING: pb.BLOCK_REACH_EVERYTHING,
    BlockScope.SIGN_IN: pb.BLOCK_REACH_SIGN_IN,
    BlockScope.ACCOUNTS: pb.BLOCK_REACH_ACCOUNTS,
}


class BlacklistServicer(Operations):
    def __init__(self, admission: Admission, blacklist: Blacklist) -> None:
        super().__init__(
            admission,
            {
                pb.AdmitAddressRequest: blacklist.admit,
                pb.ListBlockedAddressesRequest: blacklist.blocked,
                pb.BlockAddressRequest: named(blacklist.block, address="ip", until="exp"),
                pb.UnblockAddressRequest: named(blacklist.unblock, address="ip"),
            },
            shows={BlockedAddress: _message},
        )


def _message(blocked: BlockedAddress) -> pb.BlockedAddress:
    names = {"ip": "address", "exp": "until"}
    return message_of(pb.BlockedAddress, blocked, names, reach=_REACHES[blocked.reach])
