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
);
CREATE INDEX plan_run_by_user ON plan_run (user_name, created_at, number);
CREATE INDEX plan_run_by_end ON plan_run (ended_at) WHERE ended_at IS NOT NULL;
CREATE TABLE plan_step (
    run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
    step_id bigint NOT NULL,
    state text NOT NULL,
    output text,
    note text,
    attempts integer NOT NULL,
    at text NOT NULL,
    PRIMARY KEY (run_id, step_id)
);
CREATE TABLE plan_event (
    run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
    seq bigint NOT NULL,
    at text NOT NULL,
    kind text NOT NULL,
    step_id bigint,
    data text,
    PRIMARY KEY (run_id, seq)
);
CREATE TABLE plan_signal (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL REFERENCES plan_run (id) ON DELETE CASCADE,
    verb text NOT NULL,
    step_id bigint,
    value text NOT NULL
);
CREATE INDEX plan_signal_by_run ON plan_signal (run_id, seq);
