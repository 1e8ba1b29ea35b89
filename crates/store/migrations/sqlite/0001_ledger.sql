-- The truth: leases, events, and providers that a person freed outside of any case.

PRAGMA application_id = 1416784226; -- "Trib"

CREATE TABLE leases (
    case_id       TEXT    NOT NULL PRIMARY KEY,
    -- A case that nobody owns has no holder.
    holder_host   TEXT,
    holder_pid    INTEGER,
    holder_nonce  TEXT,
    generation    INTEGER NOT NULL CHECK (generation >= 1),
    expires_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    -- The order over all cases, in which the derived tables are made again.
    position   INTEGER PRIMARY KEY,
    case_id    TEXT    NOT NULL REFERENCES leases (case_id),
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    at_ms      INTEGER NOT NULL,
    generation INTEGER NOT NULL CHECK (generation >= 1),
    body       TEXT    NOT NULL,
    prev_hash  BLOB    NOT NULL,
    hash       BLOB    NOT NULL,
    UNIQUE (case_id, seq)
) STRICT;

CREATE TABLE provider_frees (
    provider       TEXT    NOT NULL,
    model          TEXT    NOT NULL,
    -- Parks at or before this position are over.
    after_position INTEGER NOT NULL,
    at_ms          INTEGER NOT NULL,
    PRIMARY KEY (provider, model)
) STRICT, WITHOUT ROWID;

-- Derived from the events. They refer to each other only, so that `check` can make them a second
-- time as temporary tables.

CREATE TABLE cases (
    id           TEXT    NOT NULL PRIMARY KEY,
    kind         TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    opened_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX cases_by_age ON cases (opened_at_ms, id);

CREATE TABLE steps (
    case_id      TEXT    NOT NULL REFERENCES cases (id),
    step         TEXT    NOT NULL,
    starts       INTEGER NOT NULL,
    -- The event that holds the result.
    finished_seq INTEGER,
    PRIMARY KEY (case_id, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id            TEXT    NOT NULL PRIMARY KEY,
    case_id       TEXT    NOT NULL REFERENCES cases (id),
    step          TEXT    NOT NULL,
    agent         TEXT    NOT NULL,
    provider      TEXT    NOT NULL,
    model         TEXT,
    attempt       INTEGER NOT NULL,
    prompt_hash   TEXT    NOT NULL,
    started_seq   INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    -- Absent while it runs or when it was interrupted.
    result        TEXT,
    input         INTEGER NOT NULL DEFAULT 0,
    cache_read    INTEGER NOT NULL DEFAULT 0,
    cache_write   INTEGER NOT NULL DEFAULT 0,
    output        INTEGER NOT NULL DEFAULT 0,
    -- Absent when nobody knows it, which is not the same as nothing.
    cost_micros   INTEGER,
    elapsed_ms    INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_case ON runs (case_id, started_seq);
CREATE INDEX runs_by_age ON runs (started_at_ms);

CREATE TABLE effects (
    case_id  TEXT NOT NULL REFERENCES cases (id),
    effect   TEXT NOT NULL,
    what     TEXT NOT NULL,
    -- Absent until it was done.
    evidence TEXT,
    PRIMARY KEY (case_id, effect)
) STRICT, WITHOUT ROWID;

CREATE TABLE providers (
    provider  TEXT NOT NULL,
    -- Empty for the provider's default.
    model     TEXT NOT NULL,
    class     TEXT NOT NULL,
    -- Absent when only a success or a person ends the pause.
    until_ms  INTEGER,
    PRIMARY KEY (provider, model)
) STRICT, WITHOUT ROWID;
