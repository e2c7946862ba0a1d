"""Whether the extra is installed that ``/metrics`` needs."""

from importlib.util import find_spec

EXTRA = "telemetry"


def has_extra() -> bool:
    """Whether the OpenTelemetry SDK and its exporter to Prometheus are installed."""
    return _is_installed("opentelemetry.sdk.metrics") and _is_installed("opentelemetry.exporter.prometheus")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
