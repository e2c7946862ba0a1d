"""What is asked again after a failure, and what is left alone for a while: the same for HTTP and for plans."""
