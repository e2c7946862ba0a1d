"""Rules for answers from all sources: status, fingerprints, ranking, disruptions, name matching."""
