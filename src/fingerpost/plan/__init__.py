"""Run plans over a catalogue of tools: each is validated first, and journaled while it runs (plan-step contract)."""
