"""What every source of transport shares: status, fingerprints, ranking, disruption, matching."""
