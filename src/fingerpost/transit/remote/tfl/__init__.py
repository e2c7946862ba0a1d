"""London's network, served by Transport for London's Unified API."""
