"""What every remote source needs."""
