"""``python -m fingerpost``: the command line."""

from fingerpost.apps.cli import main

main()
