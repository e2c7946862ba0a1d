"""Run plans of tool calls; plans are validated first, and every run is journaled (plan-step contract)."""
