"""Which psycopg errors mean that the connection is lost, so that the call may be repeated."""

import psycopg

from fingerpost.store.postgres import is_lost


def test_a_pipeline_that_the_server_cut_off_is_lost():
    """What psycopg raises has no state; that the server shuts down is only in the context."""
    error = psycopg.OperationalError("cannot exit pipeline mode while busy")
    error.__context__ = psycopg.errors.AdminShutdown("terminating connection")

    assert is_lost(error, None)


def test_an_error_of_the_question_is_not_lost():
    assert not is_lost(psycopg.errors.UndefinedTable("no such table"), None)
