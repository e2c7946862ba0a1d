"""The files in ``deploy/`` that operators use."""
