"""What operators take from ``deploy/``."""
