"""`python -m everturn`: the same program as the console script."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 (nothing is imported before this)
    # Python looks for modules in the working folder first: a repository's `msgspec.py` would run in place of ours.
    del sys.path[0]

from everturn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
