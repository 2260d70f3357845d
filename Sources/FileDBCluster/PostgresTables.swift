/// The tables and functions that a database has for FileDB, described in <doc:Cluster>.
enum PostgresTables {
  static let version: UInt64 = 1

  /// Makes what is not there yet. It may run at any time.
  static let script = """
    CREATE SCHEMA IF NOT EXISTS filedb;

    CREATE TABLE IF NOT EXISTS filedb.format (version bigint NOT NULL);
    INSERT INTO filedb.format SELECT \(version) WHERE NOT EXISTS (SELECT FROM filedb.format);

    CREATE TABLE IF NOT EXISTS filedb.stores (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      identity uuid NOT NULL DEFAULT gen_random_uuid(),
      head bigint NOT NULL DEFAULT 0
    );

    CREATE TABLE IF NOT EXISTS filedb.commits (
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      sequence bigint NOT NULL,
      token uuid NOT NULL,
      payload bytea NOT NULL,
      committed timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (store, sequence),
      UNIQUE (store, token)
    );

    CREATE TABLE IF NOT EXISTS filedb.tables (
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      name text COLLATE "C" NOT NULL,
      sequence bigint NOT NULL,
      exists boolean NOT NULL,
      PRIMARY KEY (store, name)
    );

    CREATE TABLE IF NOT EXISTS filedb.refused (
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      token uuid NOT NULL,
      asked timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (store, token)
    );

    \(append)

    \(settle)
    """

  /// Appends a commit, unless somebody else's to one of the `expected` tables came before it.
  private static let append = """
    CREATE OR REPLACE FUNCTION filedb.append(
      the_store bigint, the_token uuid,
      expected_tables text[], expected_sequences bigint[],
      changed_tables text[], changed_exist boolean[],
      the_payload bytea
    ) RETURNS bigint LANGUAGE plpgsql AS $append$
    DECLARE
      number bigint;
    BEGIN
      -- A commit that returned survives the server's crash, whatever the database's default is.
      IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      -- From here to the end of the transaction nobody else appends to this store.
      SELECT head + 1 INTO number FROM filedb.stores WHERE id = the_store FOR UPDATE;
      IF number IS NULL THEN
        RAISE EXCEPTION 'the store is gone' USING ERRCODE = 'FD001';
      END IF;
      IF EXISTS (SELECT FROM filedb.refused WHERE store = the_store AND token = the_token) THEN
        RAISE EXCEPTION 'somebody asked for this commit before it came' USING ERRCODE = 'FD002';
      END IF;
      IF EXISTS (
        SELECT FROM unnest(expected_tables, expected_sequences) AS expected (name, sequence)
        JOIN filedb.tables AS present ON present.store = the_store AND present.name = expected.name
        WHERE present.sequence > expected.sequence
      ) THEN
        RETURN NULL;
      END IF;
      INSERT INTO filedb.commits (store, sequence, token, payload)
        VALUES (the_store, number, the_token, the_payload);
      INSERT INTO filedb.tables (store, name, sequence, exists)
        SELECT the_store, name, number, is_there
        FROM unnest(changed_tables, changed_exist) AS changed (name, is_there)
        ON CONFLICT (store, name) DO UPDATE SET sequence = excluded.sequence, exists = excluded.exists;
      UPDATE filedb.stores SET head = number WHERE id = the_store;
      PERFORM pg_notify('filedb_' || the_store, number::text);
      RETURN number;
    END
    $append$;
    """

  /// The number of the commit with a token. Where there is none, there never will be.
  private static let settle = """
    CREATE OR REPLACE FUNCTION filedb.settle(the_store bigint, the_token uuid)
    RETURNS bigint LANGUAGE plpgsql AS $settle$
    DECLARE
      number bigint;
    BEGIN
      IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      -- Waits for a transaction that is about to append it.
      PERFORM FROM filedb.stores WHERE id = the_store FOR UPDATE;
      SELECT sequence INTO number FROM filedb.commits WHERE store = the_store AND token = the_token;
      IF number IS NULL THEN
        INSERT INTO filedb.refused (store, token) VALUES (the_store, the_token) ON CONFLICT DO NOTHING;
      END IF;
      RETURN number;
    END
    $settle$;
    """
}
