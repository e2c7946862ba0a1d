"""The version of fingerpost that spans and metrics are told of."""

from importlib.metadata import version

VERSION = version("fingerpost")
