"""The web page: one document and the modules of the views, on the server that answers the page's calls."""
