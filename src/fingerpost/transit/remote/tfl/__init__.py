"""The network behind Transport for London's Unified API."""
