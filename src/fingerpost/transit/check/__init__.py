"""Check whether riders can use a feed: compare a network with the raw tables, and ask it many questions."""
