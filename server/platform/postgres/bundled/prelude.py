"""Switches to the server's account, ties the process to its owner, and executes the program.

A child process runs this script before its program. No Python code then runs between fork and exec, which
would be unsafe beside the owner's threads. Arguments: account, uid, gid, the owner's process id, the program
and its arguments.
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
    # A change of account resets the parent-death signal, so it is requested last.
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
    """Request SIGINT, PostgreSQL's fast shutdown, for when the thread that started this process ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
    if os.getppid() != owner:
        sys.exit("the owner is gone")


def _closed(word: str) -> str:
    """Return the first directory of a path that this account may not traverse; empty if none or not a path."""
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
