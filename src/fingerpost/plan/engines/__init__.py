"""Where runs are kept, and who may carry them on."""
