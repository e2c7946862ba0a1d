"""The existing engines; a new engine adds itself here."""

import os

from tests.plan.suite.engine import Engine
from tests.plan.suite.processes import import_before_forking
from tests.scale.cluster import URL

ENGINES = [Engine(name="embedded", opens="fingerpost.plan.engines.embedded:EmbeddedJournal")]
"""Every engine is held to every fact of the suite."""

if os.environ.get(URL):
    # A server is needed: make test-scale.
    import_before_forking("tests.scale.recovering_worker", "dbos")
    ENGINES.append(Engine(name="dbos", opens="tests.scale.places:open_journal"))
