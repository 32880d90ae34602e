"""`python -m everturn`: the same program as the console script."""

import sys

from everturn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
