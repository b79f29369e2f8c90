ALTER TABLE layover.standings
    DROP COLUMN due_at,
    DROP COLUMN resume_signal,
    DROP COLUMN resume_key,
    DROP COLUMN resume_filter,
    DROP COLUMN resume_by;
