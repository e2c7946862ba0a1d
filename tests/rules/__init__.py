"""The rules that all sources share."""
