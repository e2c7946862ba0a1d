"""Public transport: the model, the rules that all sources share, and the sources."""
