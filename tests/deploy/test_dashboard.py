"""The example dashboard queries only metrics that a server has, with labels that they have."""

import json
import re

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fingerpost.runtime import instruments
from fingerpost.runtime.instruments import Age
from tests.project.sources import ROOT

DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "fingerpost.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "telemetry.md").read_text(encoding="utf-8")
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
_NAME = re.compile(r"\b(?:fingerpost|http_client|process)_\w+")
_LABELS = re.compile(r"by \(([^)]*)\)")


def list_declared():
    proxies = [each for each in vars(instruments).values() if hasattr(each, "_name") and hasattr(each, "_unit")]
    return {each._name: each for each in proxies}


class AgeSource:
    def list_realtime_ages(self):
        return [Age("CITY", "BUS", 1)]


def list_told():
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    reader = PrometheusMetricReader(disable_target_info=True, scope_info_enabled=False, registry=registry)
    provider = MeterProvider(metric_readers=[reader])
    meter = provider.get_meter("fingerpost")
    for each in list_declared().values():
        instrument = each._create_real_instrument(meter)
        if hasattr(each, "_callbacks"):
            continue
        (instrument.record if hasattr(instrument, "record") else instrument.add)(1)
    aged = AgeSource()
    instruments.watch(aged)
    text = generate_latest(registry).decode()
    provider.shutdown()
    return {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}


def test_every_metric_of_the_dashboard_is_exported():
    asked = {name for query in QUERIES for name in _NAME.findall(_LABELS.sub("", query))}

    assert asked - list_told() == set()
    assert len(asked) > 10


def test_every_metric_of_ours_is_shown():
    told = {name.removesuffix("_total") for name in list_told() if name.startswith(("fingerpost_", "http_"))}
    bases = {re.sub(r"_(bucket|count|sum|created)$", "", name) for name in told}
    shown = " ".join(QUERIES)

    assert {name for name in bases if name not in shown} == set()


def test_every_metric_is_on_its_page():
    assert {name for name in list_declared() if f"`{name}`" not in PAGE} == set()
