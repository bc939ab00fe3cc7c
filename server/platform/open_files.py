"""The limit of open files and sockets of this process (RLIMIT_NOFILE)."""

import sys

# Upper bound: a process may have no limit, and some systems refuse larger values.
MOST_OPEN_FILES = 1 << 20

if sys.platform == "win32":

    def raise_open_file_limit() -> None:
        """Do nothing: Windows has no such limit."""

    def open_file_limit() -> int:
        return MOST_OPEN_FILES

else:
    from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit, setrlimit

    def raise_open_file_limit() -> None:
        """Raise the soft limit up to the hard limit."""
        soft, hard = getrlimit(RLIMIT_NOFILE)
        wanted = MOST_OPEN_FILES if hard == RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
        if soft != RLIM_INFINITY and soft < wanted:
            setrlimit(RLIMIT_NOFILE, (wanted, hard))

    def open_file_limit() -> int:
        soft, _ = getrlimit(RLIMIT_NOFILE)
        return MOST_OPEN_FILES if soft == RLIM_INFINITY else min(soft, MOST_OPEN_FILES)
