-- When a lease ends by the clock that begins with the machine and that nobody can set; for a holder
-- since the same start of the same machine.
ALTER TABLE leases ADD COLUMN boot_expires_at_ms INTEGER;
