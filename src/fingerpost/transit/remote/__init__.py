"""Networks that ask a server."""
