"""The command ``anonsql``, as the binary of that name runs it."""

from __future__ import annotations

import signal
import sys

from ._anonsql import run_command


def main() -> int:
    """Run the command with the arguments of this process, and return its exit code."""
    # The command has its own answer to Ctrl-C; Python's would raise behind it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(["anonsql", *sys.argv[1:]], sys.executable or None, sys.orig_argv[1:])


if __name__ == "__main__":
    sys.exit(main())
