"""Run plans of tool calls: each is validated before it runs, and journaled while it runs (plan-step contract)."""
