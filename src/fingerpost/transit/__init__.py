"""Door-to-door public transport: one model, the rules every source shares, and the sources."""
