"""Goldens are the same in every time zone and language of a machine."""

import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def plain_place() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        patch.setenv("LC_ALL", "C.UTF-8")
        time.tzset()
        yield
    time.tzset()
