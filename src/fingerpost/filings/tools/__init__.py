"""The filings tools."""
