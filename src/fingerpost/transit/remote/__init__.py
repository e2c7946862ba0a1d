"""Networks that query a remote server over HTTP."""
