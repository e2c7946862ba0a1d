"""The rules that every source shares."""
