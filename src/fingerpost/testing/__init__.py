"""Shipped to authors of providers: feeds written as text, and fakes that enter by the same door as reality."""
