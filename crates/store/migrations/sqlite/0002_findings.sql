-- Derived from the events: findings that are followed over several reviews.

CREATE TABLE findings (
    fingerprint TEXT    NOT NULL PRIMARY KEY,
    file        TEXT    NOT NULL,
    standing    TEXT    NOT NULL,
    -- The finding as it was seen last.
    body        TEXT    NOT NULL,
    first_case  TEXT    NOT NULL REFERENCES cases (id),
    first_at_ms INTEGER NOT NULL,
    last_case   TEXT    NOT NULL REFERENCES cases (id),
    last_at_ms  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX findings_by_file ON findings (file);
