-- The task that a dispute about a finding holds up, and with what it was handed on; JSON.
ALTER TABLE disputes ADD COLUMN referral TEXT;

-- The case on whose behalf another was opened: reviews of a task's work, disputes of a review.
ALTER TABLE cases ADD COLUMN parent TEXT;

CREATE INDEX cases_by_parent ON cases (parent) WHERE parent IS NOT NULL;
