"""The tables of variables, limits and plan runs, in PostgreSQL's dialect; ``tables.in_sqlite`` translates them.

Each store has a tuple of layouts, and each layout only adds to the one before, so processes of an older build that
have the store open continue. A newer build upgrades a store when it opens it; an older build refuses a newer store.
"""

from collections.abc import Sequence

Layout = Sequence[str]

VARIABLES: Layout = (
    """
    CREATE TABLE variable (
        user_name text COLLATE "C" NOT NULL,
        key text COLLATE "C" NOT NULL,
        type text NOT NULL,
        value text NOT NULL,
        created_us bigint NOT NULL,
        updated_us bigint NOT NULL,
        PRIMARY KEY (user_name, key)
    )
    """,
    "CREATE INDEX variable_by_change ON variable (updated_us)",
)
# Losing limits does no harm, so they are not logged; they start again after a crash of the server.
LIMITS: Layout = (
    'CREATE UNLOGGED TABLE IF NOT EXISTS rate_limit (name text COLLATE "C" PRIMARY KEY, free_ms bigint NOT NULL)',
)
# Instants are ISO 8601 texts, as answers print them. Texts of people and tools are JSON strings, which may hold a NUL.
# holder increases each time a process claims the run; a process that has an older number may record nothing more.
RUNS: Layout = (
    """
    CREATE TABLE plan_run (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        id text COLLATE "C" NOT NULL UNIQUE,
        user_name text COLLATE "C",
        plan text NOT NULL,
        goal text NOT NULL,
        step_count integer NOT NULL,
        given text NOT NULL,
        state text NOT NULL,
        created_at text COLLATE "C" NOT NULL,
        ended_at text COLLATE "C",
        protocol integer NOT NULL,
        replans integer NOT NULL DEFAULT 0,
        holder bigint NOT NULL DEFAULT 0
    )
    """,
    "CREATE INDEX plan_run_by_user ON plan_run (user_name, created_at, number)",
    "CREATE INDEX plan_run_by_end ON plan_run (ended_at) WHERE ended_at IS NOT NULL",
    """
    CREATE TABLE plan_step (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        step_id bigint NOT NULL,
        state text NOT NULL,
        output text,
        note text,
        attempts integer NOT NULL,
        at text NOT NULL,
        PRIMARY KEY (run_id, step_id)
    )
    """,
    """
    CREATE TABLE plan_event (
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        seq bigint NOT NULL,
        at text NOT NULL,
        kind text NOT NULL,
        step_id bigint,
        data text,
        PRIMARY KEY (run_id, seq)
    )
    """,
    """
    CREATE TABLE plan_signal (
        seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
        verb text NOT NULL,
        step_id bigint,
        value text NOT NULL
    )
    """,
    "CREATE INDEX plan_signal_by_run ON plan_signal (run_id, seq)",
)
# For DBOS: worker is the process that executes a run; takeovers counts the processes in a row that died executing it.
WORKERS: Layout = (
    'ALTER TABLE plan_run ADD COLUMN worker text COLLATE "C"',
    "ALTER TABLE plan_run ADD COLUMN takeovers integer NOT NULL DEFAULT 0",
)
