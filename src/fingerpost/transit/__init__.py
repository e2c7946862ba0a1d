"""Public transport: the data model, the network sources, and the rules that all sources share."""
