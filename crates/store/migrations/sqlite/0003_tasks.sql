-- Derived from the events: tasks, and the sections that order them.

CREATE TABLE sections (
    id       TEXT    NOT NULL PRIMARY KEY REFERENCES cases (id),
    name     TEXT    NOT NULL UNIQUE,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    id            TEXT    NOT NULL PRIMARY KEY REFERENCES cases (id),
    state         TEXT    NOT NULL,
    settled       INTEGER NOT NULL,
    section       TEXT,
    -- 0 is the most urgent.
    priority      INTEGER NOT NULL,
    position      INTEGER NOT NULL,
    -- What is to be done.
    body          TEXT    NOT NULL,
    rejections    INTEGER NOT NULL,
    instructions  TEXT,
    commit_id     TEXT,
    added_at_ms   INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX tasks_by_state ON tasks (settled, state);
CREATE INDEX tasks_by_section ON tasks (section, position);
