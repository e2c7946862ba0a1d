"""Tools that an AI agent can trust, for public transport and for company filings."""
