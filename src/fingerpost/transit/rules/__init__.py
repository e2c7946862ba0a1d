"""Rules for the answers of all sources: status, fingerprints, ranking, disruptions, name matching."""
