"""The command ``orthopt``: ``python -m orthopt``, and the program of this name that the wheel installs."""

from __future__ import annotations

import sys

from ._orthopt import command


def main() -> None:
    """Runs the command with the arguments of the process, and ends the process with its exit code."""
    sys.exit(command(["orthopt", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
