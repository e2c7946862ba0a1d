CREATE TABLE variable (
    user_name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    type text NOT NULL,
    value text NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (user_name, key)
);
CREATE INDEX variable_by_change ON variable (updated_us);
