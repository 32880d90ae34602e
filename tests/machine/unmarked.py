"""A plugin of pytest: keeps the tests that name an optional program, or the sandbox, and carry no mark of what they need.

Were a mark forgotten, it would most likely be at one of these. All tests run there in `make test-bare`.
"""

import inspect
import re

import pytest
from tests.needs import NEEDS, names_of

OPTIONAL = {name for name, need in NEEDS.items() if need.packages}
NAMED = re.compile(
    rf"\b({'|'.join({*OPTIONAL, 'sandbox', *(word for name in OPTIONAL for word in NEEDS[name].programs)})})\b"
)
"""Words that a test which touches such a program can hardly do without."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if names_of(item) or not NAMED.search(read_source(item))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def read_source(item: pytest.Item) -> str:
    function = getattr(item, "function", None)
    return inspect.getsource(function) if function is not None else ""
