"""Become the server's account, be ended with the owner, and turn into the program.

A script that a child runs before its program, so that nothing happens between fork and exec and threads of the
owner do no harm. Arguments: account, uid, gid, the owner's process id, the program and its arguments.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(account: str, uid: str, gid: str, owner: str, *command: str) -> None:
    if os.geteuid() == 0:
        os.initgroups(account, int(gid))
        os.setgid(int(gid))
        os.setuid(int(uid))
    # A change of account takes the signal away, so it is asked for last.
    _end_with(int(owner))
    closed = next(filter(None, map(_closed, command)), None)
    if closed is not None:
        sys.exit(
            f"the account {account} may not enter {closed}: use a data directory and an installation outside it, "
            f"another database.account, or let the account in (chmod o+x {closed})"
        )
    try:
        os.execv(command[0], command)  # noqa: S606  # this is what the script is for
    except OSError as error:
        sys.exit(f"the account {account} may not run {command[0]}: {error}")


def _end_with(owner: int) -> None:
    """SIGINT, PostgreSQL's fast shutdown, as soon as the thread that started this process is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != owner:
        sys.exit("the owner is gone")


def _closed(word: str) -> str:
    """When it is a path, the first directory of it that this account may not pass through."""
    parts = word.split("/")
    for depth in range(1, len(parts) if word.startswith("/") else 0):
        directory = "/".join(parts[:depth]) or "/"
        try:
            os.stat(os.path.join(directory, "."))  # noqa: PTH116, PTH118  # importing pathlib would take as long as all the rest
        except PermissionError:
            return directory
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
