"""What a tool promises and how a promise is checked: pure values, no I/O."""
