"""The engines that there are; the next one adds itself here."""

from fingerpost.testing.engines.engine import Engine

ENGINES = [Engine(name="embedded", opens="fingerpost.plan.engines.embedded:EmbeddedJournal")]
