-- Derived from the events: decisions of the arbiter's model that may be reused, and who decided how
-- often.

CREATE TABLE arbiter_cache (
    key      TEXT    NOT NULL PRIMARY KEY,
    -- Grows with each decision; the oldest are dropped.
    number   INTEGER NOT NULL,
    decision TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX arbiter_cache_by_age ON arbiter_cache (number);

CREATE TABLE arbiter_counts (
    source TEXT    NOT NULL PRIMARY KEY,
    count  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
