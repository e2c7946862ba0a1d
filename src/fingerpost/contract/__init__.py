"""The contracts' models: tools, plans, responses and their validation; pure values, no I/O.

Users import the contract's names from ``fingerpost`` (rule F1), which also registers the built-in tools.
"""
