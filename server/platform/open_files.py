"""Limit of the files and sockets that this process may have open (RLIMIT_NOFILE)."""

import sys

# A process may have no limit at all, and some systems refuse to be asked for more than they can count.
MOST_OPEN_FILES = 1 << 20

if sys.platform == "win32":

    def raise_open_file_limit() -> None:
        """Do nothing: there is no such limit."""

    def open_file_limit() -> int:
        return MOST_OPEN_FILES

else:
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    def raise_open_file_limit() -> None:
        """Raise the soft limit as far as the hard limit lets this process."""
        soft, hard = getrlimit(RLIMIT_NOFILE)
        wanted = MOST_OPEN_FILES if hard == RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
        if soft != RLIM_INFINITY and soft < wanted:
            setrlimit(RLIMIT_NOFILE, (wanted, hard))

    def open_file_limit() -> int:
        soft, _ = getrlimit(RLIMIT_NOFILE)
        return MOST_OPEN_FILES if soft == RLIM_INFINITY else min(soft, MOST_OPEN_FILES)
