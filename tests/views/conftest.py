"""The home and clock of the interface tests, and one browser for all tests in a process."""

from functools import partial

import pytest
import pytest_asyncio

from tests.apps.conftest import application, home, invoke  # noqa: F401  (fixtures)
from tests.views.hosting import drawing, launching, showing
from tests.views.web_visit import visiting


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    async with launching() as launched:
        yield launched


@pytest.fixture
def show(browser):
    return partial(showing, browser)


@pytest.fixture
def draw(browser, application):  # noqa: F811  (the fixture)
    return partial(drawing, browser, application=application)


@pytest.fixture
def visit(browser, application):  # noqa: F811  (the fixture)
    return partial(visiting, browser, application)
