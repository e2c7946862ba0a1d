"""Figures from company filings: values, periods, concepts, revisions and sources."""
