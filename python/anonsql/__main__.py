"""The ``anonsql`` command, which is the same as the binary."""

from __future__ import annotations

import signal
import sys

from ._anonsql import run_command


def main() -> int:
    """Run the command with this process's arguments, and return its exit code."""
    # The command handles Ctrl-C itself, so Python must not raise KeyboardInterrupt as well.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_command(["anonsql", *sys.argv[1:]], sys.executable or None, sys.orig_argv[1:])


if __name__ == "__main__":
    sys.exit(main())
