"""What an engine must hold to: facts for whoever writes a journal of plan runs, ``kill -9`` included."""
