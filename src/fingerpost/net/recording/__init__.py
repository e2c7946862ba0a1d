"""Record calls to sources as files in a folder, and replay them without a network."""
