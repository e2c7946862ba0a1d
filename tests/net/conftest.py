"""Retries without their backoff."""

import pytest
import stamina


@pytest.fixture(autouse=True)
def no_backoff():
    """As many attempts as the request asks for, without a wait between them."""
    with stamina.set_testing(True, attempts=100, cap=True):
        yield
