"""The messages to the operator about an unusable database: one sentence, without the address."""

import sys

import pytest

from fingerpost.apps.settings import read_settings
from fingerpost.apps.storage import check_database, find_database, open_journal
from fingerpost.errors import ParameterError, SettingsInvalid, StorageUnavailable, ToolError
from fingerpost.store.postgres import Database
from fingerpost.store.variables import VariableStore
from tests.scale.cluster import PASSWORD, USER
from tests.scale.places import get_url, run_sql, url_of
from tests.scale.test_cut_off import NOON

VARIABLE = "FINGERPOST_DATABASE_URL"
UNREACHABLE = "The database cannot be reached; try again in a moment"


def said_of(url, **given):
    with pytest.raises(ToolError) as caught:
        VariableStore(Database(url, **given)).list_variables("ada")
    return type(caught.value), caught.value.message


NO_ADDRESS = f"{VARIABLE} is not a database address; write it as postgresql://USER:PASSWORD@HOST:PORT/NAME"
REFUSED = f"The database rejected the user or the password in {VARIABLE}"
ABSENT = f"The database that {VARIABLE} names does not exist; create it, or correct the name"
WRONG = {
    "password": (lambda: url_of("postgres", password="wrong"), REFUSED),
    "user": (lambda: url_of("postgres", user="nobody"), REFUSED),
    "name": (lambda: url_of("absent"), ABSENT),
    "scheme": (lambda: f"mysql://{USER}:{PASSWORD}@h/n", NO_ADDRESS),
    "port": (lambda: f"postgresql://{USER}:{PASSWORD}@h:p/n", NO_ADDRESS),
    "form": (lambda: f"{USER} {PASSWORD}", NO_ADDRESS),
    # The test server has no certificate.
    "encryption": (
        lambda: f"{get_url()}?sslmode=require",
        f"The database does not offer the encrypted connection that {VARIABLE} requires",
    ),
}


@pytest.mark.parametrize(("address", "sentence"), WRONG.values(), ids=WRONG)
def test_a_wrong_part_of_the_address_is_named(address, sentence):
    assert said_of(address()) == (SettingsInvalid, sentence)


def test_a_database_with_another_encoding_is_refused_at_the_first_connection(new_database):
    """Later, each text that it cannot store would fail a call."""
    name = new_database("TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'")

    assert said_of(url_of(name)) == (
        SettingsInvalid,
        f"The database that {VARIABLE} names is not encoded in UTF-8; create it with ENCODING 'UTF8'",
    )


def test_without_listeners_nothing_is_sent():
    """A port that nothing listens on: it may be a restart, so the same call may succeed."""
    kind, sentence = said_of(f"postgresql://{USER}:{PASSWORD}@127.0.0.1:1/postgres")

    assert (issubclass(kind, StorageUnavailable), kind.retryable, sentence) == (True, True, UNREACHABLE)


def test_without_the_extra_the_setting_names_the_package(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setenv(VARIABLE, "postgresql://without/extra")
    sentence = f"^{VARIABLE} is set, but the PostgreSQL client is not installed: pip install 'dbos"

    with pytest.raises(SettingsInvalid, match=sentence):
        find_database(read_settings(home=tmp_path))


def test_a_database_that_only_reads_answers_and_refuses_to_write(new_database):
    url = url_of(new_database())
    VariableStore(Database(url)).save("ada", "home", "other", 1, NOON)
    standby = VariableStore(Database(f"{url}?options=-c%20default_transaction_read_only%3Don"))
    with pytest.raises(SettingsInvalid) as caught:
        standby.save("ada", "home", "other", 2, NOON)

    assert standby.find("ada", "home").value == 1
    assert caught.value.message == f"The database is read-only; set {VARIABLE} to the primary"


def test_a_user_who_may_create_nothing_is_told_to_request_the_schema(new_database):
    name = new_database()
    run_sql(name, "DROP ROLE IF EXISTS guest", "CREATE ROLE guest LOGIN PASSWORD 'g'")
    try:
        url = url_of(name, user="guest", password="g")
        refused = said_of(url)
        run_sql(name, "CREATE SCHEMA fingerpost AUTHORIZATION guest")
        saved = VariableStore(Database(url)).save("ada", "home", "other", 1, NOON)[0]
    finally:
        run_sql(name, "DROP SCHEMA IF EXISTS fingerpost CASCADE", "DROP OWNED BY guest", "DROP ROLE guest")

    assert refused == (
        SettingsInvalid,
        f"The user in {VARIABLE} has no access to the database tables; grant it access to the schema",
    )
    assert saved.value == 1


@pytest.mark.parametrize(("user", "key"), [("a\0b", "home"), ("ada", "ho\0me")])
def test_a_text_with_a_nul_is_the_callers(database, user, key):
    variables = VariableStore(database)
    with pytest.raises(
        ParameterError, match=r"^The text cannot be stored: it contains a character that databases reject"
    ):
        variables.save(user, key, "other", 1, NOON)

    assert (variables.find("ada", "ho\0me"), variables.delete("ada", "ho\0me")) == (None, [])


def test_one_address_is_one_database_and_an_empty_one_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    alone = read_settings(home=tmp_path)
    monkeypatch.setenv(VARIABLE, "postgresql://h/n")
    shared = read_settings(home=tmp_path)

    assert find_database(alone) is None
    assert find_database(shared) is find_database(shared)
    assert [type(open_journal(each)).__name__ for each in (alone, shared)] == ["EmbeddedJournal", "DbosJournal"]


def test_a_server_does_not_start_on_a_database_that_it_can_never_use(monkeypatch, tmp_path, caplog):
    """Rule E3: the operator hears of a wrong password at once. One that is only away now stops nothing."""
    monkeypatch.setenv(VARIABLE, url_of("postgres", password="wrong"))
    with pytest.raises(SettingsInvalid, match=r"^The database rejected the user or the password in"):
        check_database(read_settings(home=tmp_path))
    monkeypatch.setenv(VARIABLE, f"postgresql://{USER}:{PASSWORD}@127.0.0.1:1/postgres")
    check_database(read_settings(home=tmp_path))

    assert [record.message for record in caplog.records] == [UNREACHABLE]
