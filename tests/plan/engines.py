"""The engines that there are; the next one adds itself here."""

import os

from fingerpost.testing.engines.engine import Engine
from fingerpost.testing.engines.process import import_before_forking
from tests.scale.cluster import URL

ENGINES = [Engine(name="embedded", opens="fingerpost.plan.engines.embedded:EmbeddedJournal")]
"""Every engine is held to every fact of the suite."""

if os.environ.get(URL):
    # A server is needed: make test-scale.
    import_before_forking("tests.scale.recovering_worker", "dbos")
    ENGINES.append(Engine(name="dbos", opens="tests.scale.places:open_journal"))
