"""Run plans of tool calls; each plan is validated before it runs, and journaled while it runs (plan-step contract)."""
