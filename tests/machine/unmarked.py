"""A plugin of pytest: keeps the tests that name an optional program, or the sandbox, and carry no mark of what they need.

Were a mark forgotten, it would most likely be at one of these. All tests run there in `make test-bare`.
"""

import inspect
import re
from collections.abc import Callable
from functools import cache

import pytest
from tests.needs import NEEDS, names_of

OPTIONAL = {name for name, need in NEEDS.items() if need.packages}
NAMED = re.compile(
    rf"\b({'|'.join({*OPTIONAL, 'sandbox', *(word for name in OPTIONAL for word in NEEDS[name].programs)})})\b"
)
"""Words that a test which touches such a program can hardly do without."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    kept, left_out = [], []
    for item in items:
        (left_out if names_of(item) or not is_named_by(item) else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def is_named_by(item: pytest.Item) -> bool:
    function = getattr(item, "function", None)
    return function is not None and names_one(function)


@cache
def names_one(function: Callable[..., object]) -> bool:
    """A function has many cases."""
    return bool(NAMED.search(inspect.getsource(function)))
