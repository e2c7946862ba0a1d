"""The contracts' models (tools, plans and responses) and their validation, without I/O.

Users import the contract's names from ``fingerpost`` (rule F1), because that also registers the built-in tools.
"""
