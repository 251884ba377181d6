-- Codes of the embeddings of memories, with one bit for each dimension, so that a search in a large scope does not read all embeddings.

ALTER TABLE tool_store.memory_vector
    -- The number of dimensions, and the code. Both are null until a program has computed the code (`vectors::code`): a search then reads the embedding.
    ADD COLUMN dimensions integer,
    ADD COLUMN code       bit varying,
    ADD CONSTRAINT memory_vector_code CHECK (dimensions IS NOT DISTINCT FROM length(code)),
    -- Floating-point numbers do not compress.
    ALTER COLUMN vector SET STORAGE EXTERNAL;

DROP INDEX tool_store.memory_vector_by_scope;
CREATE INDEX memory_vector_by_scope ON tool_store.memory_vector (workspace, agent, model, dimensions);
CREATE INDEX memory_vector_uncoded  ON tool_store.memory_vector (seq) WHERE code IS NULL;

-- A program of an earlier version replaces the embedding and not its code.
CREATE FUNCTION tool_store.clear_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.dimensions := NULL;
    NEW.code := NULL;
    RETURN NEW;
END $$;

CREATE TRIGGER memory_vector_without_code BEFORE UPDATE OF vector ON tool_store.memory_vector
    FOR EACH ROW WHEN (OLD.code IS NOT DISTINCT FROM NEW.code AND OLD.vector IS DISTINCT FROM NEW.vector)
    EXECUTE FUNCTION tool_store.clear_code();
