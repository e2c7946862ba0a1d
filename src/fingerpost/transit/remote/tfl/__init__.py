"""Transport for London's Unified API as a source of London's public transport."""
