"""Retries without backoff."""

import asyncio

import pytest

from fingerpost.runtime import retry


@pytest.fixture(autouse=True)
def no_backoff(monkeypatch):
    monkeypatch.setattr(retry, "sleep", lambda _seconds: asyncio.sleep(0))
