"""Sources of public transport; none imports another."""
