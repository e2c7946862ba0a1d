"""Figures from company filings: values, periods, concepts, revisions, and where they come from."""
