import pytest
from tests.demo.newcomer import Newcomer


@pytest.fixture
def newcomer(tmp_path):
    return Newcomer(tmp_path)
