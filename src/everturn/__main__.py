"""`python -m everturn`: the same program as the console script."""

import os
import sys


def leave_out_working_folder() -> None:
    """Python looks for modules there first: a repository's `msgspec.py` would run in place of ours."""
    try:
        is_first = sys.path[:1] == [os.getcwd()]  # noqa: PTH109 (nothing is imported before this)
    except OSError:
        # It is gone, and nothing can be found in it.
        return
    if is_first and not sys.flags.safe_path:
        del sys.path[0]


leave_out_working_folder()

from everturn.cli.main import main  # noqa: E402 (only now)

if __name__ == "__main__":
    sys.exit(main())
