"""Who answers; strangers to each other."""
