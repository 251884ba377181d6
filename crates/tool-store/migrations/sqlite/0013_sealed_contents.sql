-- Contents that the host seals on request: arguments of approvals, arguments of edited answers, messages, chunks of spilled outputs, and stored
-- responses. In a sealed row, the column of the text is empty, the value is in `sealed`, and `seal_key` is the id of its key. Rows that were written
-- without a key have a text and neither of the two.

ALTER TABLE approval ADD COLUMN sealed BLOB;
ALTER TABLE approval ADD COLUMN seal_key TEXT CHECK ((sealed IS NULL) = (seal_key IS NULL));
-- The arguments of an edited answer.
ALTER TABLE approval ADD COLUMN edited_sealed BLOB;
ALTER TABLE approval ADD COLUMN edited_key TEXT CHECK ((edited_sealed IS NULL) = (edited_key IS NULL));
ALTER TABLE message ADD COLUMN sealed BLOB;
ALTER TABLE message ADD COLUMN seal_key TEXT CHECK ((sealed IS NULL) = (seal_key IS NULL));
ALTER TABLE spill_chunk ADD COLUMN sealed BLOB;
ALTER TABLE spill_chunk ADD COLUMN seal_key TEXT CHECK ((sealed IS NULL) = (seal_key IS NULL));
ALTER TABLE request ADD COLUMN sealed BLOB;
ALTER TABLE request ADD COLUMN seal_key TEXT CHECK ((sealed IS NULL) = (seal_key IS NULL));

-- `SealStore::sealed` and `SealStore::key_uses`.
CREATE INDEX approval_sealed    ON approval (seal_key, workspace, id) WHERE seal_key IS NOT NULL;
CREATE INDEX approval_edited    ON approval (edited_key, workspace, id) WHERE edited_key IS NOT NULL;
CREATE INDEX message_sealed     ON message (seal_key, workspace, conversation, seq) WHERE seal_key IS NOT NULL;
CREATE INDEX spill_chunk_sealed ON spill_chunk (seal_key, handle, start) WHERE seal_key IS NOT NULL;
CREATE INDEX request_sealed     ON request (seal_key, workspace, caller, key) WHERE seal_key IS NOT NULL;
