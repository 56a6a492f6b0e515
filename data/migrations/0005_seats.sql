-- A shared channel has a seat of its own: the OS user whom its agents run as, as the operator set it.
ALTER TABLE channel ADD COLUMN os_user TEXT NOT NULL DEFAULT '';
