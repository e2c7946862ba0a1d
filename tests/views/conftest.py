"""The home and clock of the interfaces' tests, and one browser for all tests of a process."""

from functools import partial

import pytest
import pytest_asyncio

from tests.apps.conftest import application, home  # noqa: F401  (fixtures)
from tests.views.hosting import launching, showing


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    """A real Chromium; skipped, saying why, where there is none."""
    async with launching() as launched:
        yield launched


@pytest.fixture
def show(browser):
    """Show an answer in a view, inside a host."""
    return partial(showing, browser)
