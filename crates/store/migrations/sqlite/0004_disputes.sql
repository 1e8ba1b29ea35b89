-- Derived from the events: disputes as they stand, and by what their rulings are found again.

CREATE TABLE disputes (
    id           TEXT    NOT NULL PRIMARY KEY,
    case_id      TEXT    NOT NULL REFERENCES cases (id),
    -- The caller's name for it; nobody opens two of one name.
    key          TEXT    NOT NULL UNIQUE,
    -- Absent when it is about a finding.
    task         TEXT,
    -- Absent when it is about a task.
    fingerprint  TEXT,
    category     TEXT,
    -- The file of the finding, or the first one named.
    file         TEXT,
    gravity      TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    opened_at_ms INTEGER NOT NULL,
    -- When the ruling that holds was made.
    ruled_at_ms  INTEGER,
    -- What it began with, without the positions; JSON, like all below.
    opening      TEXT    NOT NULL,
    coder        TEXT,
    reviewer     TEXT,
    state        TEXT    NOT NULL,
    recourse     TEXT,
    hearings     TEXT    NOT NULL,
    rulings      TEXT    NOT NULL,
    -- Whether its ruling serves as a precedent no more.
    dropped      INTEGER NOT NULL,
    -- What was tried to tell that it is stale.
    attempts     INTEGER NOT NULL,
    attempted_ms INTEGER,
    delivered    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX disputes_by_age ON disputes (status, opened_at_ms, id);
CREATE INDEX disputes_by_ruling ON disputes (status, ruled_at_ms, id);
CREATE INDEX disputes_by_opening ON disputes (opened_at_ms, id);
CREATE INDEX disputes_by_task ON disputes (task) WHERE task IS NOT NULL;
CREATE INDEX disputes_by_finding ON disputes (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX disputes_by_place ON disputes (file, category) WHERE file IS NOT NULL;

-- One open major dispute per task.
CREATE UNIQUE INDEX disputes_open_of_task ON disputes (task)
WHERE task IS NOT NULL AND gravity = 'major' AND status = 'open';

-- Cases that somebody must go on with: few, however long the ledger is.
CREATE INDEX cases_unfinished ON cases (kind, id) WHERE state = '{"state":"open"}';
