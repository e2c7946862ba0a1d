"""The home and clock of the interfaces' tests."""

from tests.apps.conftest import application, home  # noqa: F401  (fixtures)
