"""Rules that all sources share: status, fingerprints, ranking, disruption, matching."""
