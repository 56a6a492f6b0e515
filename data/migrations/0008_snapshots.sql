-- A snapshot is one row: what a turn writes before its first byte stands between a person and the answer. A text that
-- goes along every time is a blob, stored once, which knows the last day it was used; the others stand in the row.
CREATE TABLE snapshot (
  seq INTEGER PRIMARY KEY,
  parts TEXT NOT NULL,         -- JSON: [name, required, stable, sha256 of the blob or null], the person's words first
  texts BLOB NOT NULL,         -- zlib of a JSON list: the texts of those that are no blobs, in order; empty for none
  dispositions ANY NOT NULL    -- JSON: the fields of exactly one per considered item; zlib of it where it is no text
) STRICT;
ALTER TABLE dispatch ADD COLUMN snapshot INTEGER;  -- its `seq`; none once that was erased
ALTER TABLE blob ADD COLUMN used_on INTEGER NOT NULL DEFAULT 0;  -- days since 1970

UPDATE dispatch SET snapshot = n.seq FROM (
  SELECT d.dispatch, row_number() OVER (ORDER BY d.prepared_at, d.dispatch) AS seq FROM dispatch d
  WHERE EXISTS (SELECT 1 FROM snapshot_section s WHERE s.dispatch = d.dispatch)
) n WHERE n.dispatch = dispatch.dispatch;
INSERT INTO snapshot SELECT d.snapshot,
  (SELECT json_group_array(json_array(s.name, s.required, s.stable, lower(hex(s.blob)))) FROM
    (SELECT * FROM snapshot_section WHERE dispatch = d.dispatch ORDER BY position) s),
  x'',
  (SELECT json_group_array(json_array(p.section, p.source_kind, p.source_id, p.revision, p.size_bytes, p.tokens,
    p.verdict, p.reason, p.parts)) FROM (SELECT * FROM disposition WHERE dispatch = d.dispatch ORDER BY position) p)
  FROM dispatch d WHERE d.snapshot IS NOT NULL;
UPDATE blob SET used_on = (SELECT max(d.prepared_at) / 86400000000 FROM snapshot_section s JOIN dispatch d USING (dispatch)
  WHERE s.blob = blob.sha256) WHERE EXISTS (SELECT 1 FROM snapshot_section s WHERE s.blob = blob.sha256);

DROP TABLE disposition;
DROP TABLE snapshot_section;
DROP INDEX dispatch_prepared_at;
CREATE INDEX dispatch_kept ON dispatch (prepared_at) WHERE snapshot IS NOT NULL;
CREATE INDEX blob_used_on ON blob (used_on);
