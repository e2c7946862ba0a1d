"""One PostgreSQL database in place of the home folder's files, for many machines (docs/scale.md)."""
