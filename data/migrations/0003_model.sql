-- What a session works with now: it may have been changed in place, and its backend's transcript goes on with that.
ALTER TABLE session ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN effort TEXT NOT NULL DEFAULT '';
