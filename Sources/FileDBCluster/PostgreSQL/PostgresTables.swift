/// The tables and functions that FileDB needs in a database. <doc:ClusterFormat> describes them.
enum PostgresTables {
  /// Version 1 had only the commits, without the records. Version 2 had no paged tables. In version 3, `append` did not
  /// check the last commit that the writer knows. In version 4, it sent the notification.
  static let version: UInt64 = 5

  /// Stands for the list of tables, as if it were a table. No table has this name.
  static let tableList = "/"

  /// Creates what is missing. It may run at any time.
  static let script = """
    CREATE SCHEMA IF NOT EXISTS filedb;

    CREATE TABLE IF NOT EXISTS filedb.format (version bigint NOT NULL);
    INSERT INTO filedb.format SELECT \(version) WHERE NOT EXISTS (SELECT FROM filedb.format);

    CREATE TABLE IF NOT EXISTS filedb.stores (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text NOT NULL UNIQUE,
      identity uuid NOT NULL DEFAULT gen_random_uuid(),
      head bigint NOT NULL DEFAULT 0,
      start bigint NOT NULL DEFAULT 0,
      start_token uuid,
      keep interval NOT NULL DEFAULT '7 days'
    );

    CREATE TABLE IF NOT EXISTS filedb.commits (
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      sequence bigint NOT NULL,
      token uuid NOT NULL,
      payload bytea NOT NULL,
      committed timestamptz NOT NULL DEFAULT now(),
      paged bigint,
      PRIMARY KEY (store, sequence),
      UNIQUE (store, token)
    );
    CREATE INDEX IF NOT EXISTS commits_to_paged ON filedb.commits (paged, sequence) WHERE paged IS NOT NULL;

    CREATE TABLE IF NOT EXISTS filedb.tables (
      id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      name text COLLATE "C" NOT NULL,
      sequence bigint NOT NULL,
      exists boolean NOT NULL,
      counter bigint NOT NULL DEFAULT 0,
      count bigint NOT NULL DEFAULT 0,
      schema bytea,
      last_chunk bigint NOT NULL DEFAULT 0,
      paged boolean NOT NULL DEFAULT false,
      PRIMARY KEY (store, name)
    ) WITH (fillfactor = 50);

    CREATE TABLE IF NOT EXISTS filedb.refused (
      store bigint NOT NULL REFERENCES filedb.stores ON DELETE CASCADE,
      token uuid NOT NULL,
      asked timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (store, token)
    );

    \(PostgresRecords.script)

    \(PostgresPages.script)

    \(nextCommit)

    \(append)

    \(appendLoaded)

    \(settle)

    \(forget)
    """

  /// The number for the commit that the caller wants to append. It is null if another commit has changed one of the
  /// expected tables first.
  ///
  /// The caller may name the last commit that it has, and one that it knows with its token. A log without them was
  /// restored to an earlier state. If the log has forgotten the commits after `last`, the caller has to start over.
  private static let nextCommit = """
    CREATE OR REPLACE FUNCTION filedb.next_commit(
      the_store bigint, the_token uuid, expected_tables text[], expected_sequences bigint[],
      last bigint, known bigint, known_token uuid, OUT number bigint, OUT kept interval
    ) LANGUAGE plpgsql AS $next_commit$
    DECLARE
      forgotten bigint;
      present_token uuid;
    BEGIN
      -- A commit that returned survives a crash of the server, whatever the database's default is.
      IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      -- Until the end of the transaction, nobody else appends to this store.
      SELECT head + 1, keep, start, start_token INTO number, kept, forgotten, present_token
        FROM filedb.stores WHERE id = the_store FOR UPDATE;
      IF number IS NULL THEN
        RAISE EXCEPTION 'the store is gone' USING ERRCODE = 'FD001';
      END IF;
      IF last >= number THEN
        RAISE EXCEPTION 'it ends with commit %, but it had commit % before', number - 1, last USING ERRCODE = 'FD005';
      END IF;
      IF known > forgotten THEN
        SELECT token INTO present_token FROM filedb.commits WHERE store = the_store AND sequence = known;
      END IF;
      IF known >= forgotten AND known_token IS DISTINCT FROM present_token THEN
        RAISE EXCEPTION 'its commit % is not the one that it had before', known USING ERRCODE = 'FD005';
      END IF;
      IF EXISTS (SELECT FROM filedb.refused WHERE store = the_store AND token = the_token) THEN
        RAISE EXCEPTION 'this commit arrived after its writer had given it up' USING ERRCODE = 'FD002';
      END IF;
      IF last < forgotten OR EXISTS (
        SELECT FROM unnest(expected_tables, expected_sequences) AS expected (name, sequence)
        JOIN filedb.tables AS present ON present.store = the_store AND present.name = expected.name
        WHERE present.sequence > expected.sequence
      ) THEN
        number := NULL;
      END IF;
    END
    $next_commit$;
    """

  /// Appends a commit that creates tables. Their records are already there: they were copied under unused table
  /// numbers. The log does not keep this commit and begins after it. Folders that lack it start over from the records.
  private static let appendLoaded = """
    CREATE OR REPLACE FUNCTION filedb.append_loaded(
      the_store bigint, the_token uuid, expected_tables text[], expected_sequences bigint[],
      names text[], tabs bigint[], counters bigint[], counts bigint[], last_chunks bigint[],
      last bigint DEFAULT NULL, known bigint DEFAULT NULL, known_token uuid DEFAULT NULL
    ) RETURNS bigint LANGUAGE plpgsql AS $append_loaded$
    DECLARE
      the_number bigint;
      former record;
    BEGIN
      SELECT next.number INTO the_number
        FROM filedb.next_commit(
          the_store, the_token, expected_tables, expected_sequences, last, known, known_token
        ) AS next;
      IF the_number IS NULL THEN RETURN NULL; END IF;
      FOR i IN 1 .. cardinality(names) LOOP
        -- A client that loads records into a paged table has locked its row. Fail instead of waiting for it.
        SELECT paged AND sequence > 0 AS paged, counter INTO former FROM filedb.tables
          WHERE store = the_store AND name = names[i] FOR UPDATE NOWAIT;
        IF former.paged THEN
          RAISE EXCEPTION 'a commit to a paged table must name it, and change no other' USING ERRCODE = 'FD006';
        END IF;
        DELETE FROM filedb.tables WHERE store = the_store AND name = names[i];
        INSERT INTO filedb.tables (id, store, name, sequence, exists, counter, count, last_chunk)
          OVERRIDING SYSTEM VALUE
          VALUES (tabs[i], the_store, names[i], the_number, true, greatest(counters[i], former.counter), counts[i],
            last_chunks[i]);
      END LOOP;
      INSERT INTO filedb.tables (store, name, sequence, exists)
        VALUES (the_store, '\(tableList)', the_number, false)
        ON CONFLICT (store, name) DO UPDATE SET sequence = excluded.sequence;
      DELETE FROM filedb.commits WHERE store = the_store;
      UPDATE filedb.stores SET head = the_number, start = the_number, start_token = the_token WHERE id = the_store;
      RETURN the_number;
    END
    $append_loaded$;
    """

  /// Appends a commit and applies it to the records, unless another commit has changed one of the expected tables
  /// first.
  ///
  /// Each change has a verb, a table, a number and some ids. Each id has the place of its record in the payload. A
  /// commit to a paged table changes no other table, and names it again in `the_paged`.
  private static let append = """
    CREATE OR REPLACE FUNCTION filedb.append(
      the_store bigint, the_token uuid,
      expected_tables text[], expected_sequences bigint[], changed_tables text[],
      the_payload bytea,
      verbs text[], verb_tables text[], verb_numbers bigint[], verb_counts bigint[],
      ids bigint[], starts bigint[], lengths bigint[],
      the_paged text DEFAULT '', last bigint DEFAULT NULL, known bigint DEFAULT NULL, known_token uuid DEFAULT NULL
    ) RETURNS bigint LANGUAGE plpgsql AS $append$
    DECLARE
      number bigint;
      present record;
      paged_tab bigint;
      the_tab bigint;
      kept interval;
      passed bigint := 0;
      many bigint;
    BEGIN
      SELECT next.number, next.kept INTO number, kept
        FROM filedb.next_commit(
          the_store, the_token, expected_tables, expected_sequences, last, known, known_token
        ) AS next;
      IF number IS NULL THEN RETURN NULL; END IF;
      -- A client that loads records into a paged table has locked its row. Fail instead of waiting for it.
      FOR present IN SELECT id, name, sequence FROM filedb.tables
        WHERE store = the_store AND name = ANY (changed_tables) AND paged FOR UPDATE NOWAIT
      LOOP
        IF present.name = the_paged THEN
          paged_tab := present.id;
        ELSIF present.sequence > 0 THEN
          RAISE EXCEPTION 'a commit to a paged table must name it' USING ERRCODE = 'FD006';
        END IF;
      END LOOP;
      IF the_paged <> '' AND (paged_tab IS NULL OR changed_tables <> ARRAY[the_paged]) THEN
        RAISE EXCEPTION 'a commit to a paged table must change no other' USING ERRCODE = 'FD006';
      END IF;
      INSERT INTO filedb.commits (store, sequence, token, payload, paged)
        VALUES (the_store, number, the_token, the_payload, paged_tab);
      INSERT INTO filedb.tables (store, name, sequence, exists)
        SELECT the_store, name, number, false FROM unnest(changed_tables) AS changed (name)
        ON CONFLICT (store, name) DO UPDATE SET sequence = excluded.sequence, paged = tables.name = the_paged;
      FOR i IN 1 .. cardinality(verbs) LOOP
        SELECT id INTO the_tab FROM filedb.tables WHERE store = the_store AND name = verb_tables[i];
        many := verb_counts[i];
        -- Cutting a slice takes time for the whole array. Reading one element does not.
        IF many = 1 THEN
          PERFORM filedb.change(
            the_tab, verbs[i], verb_numbers[i], ARRAY[ids[passed + 1]], ARRAY[starts[passed + 1]],
            ARRAY[lengths[passed + 1]], the_payload);
        ELSE
          PERFORM filedb.change(
            the_tab, verbs[i], verb_numbers[i], ids[passed + 1 : passed + many],
            starts[passed + 1 : passed + many], lengths[passed + 1 : passed + many], the_payload);
        END IF;
        passed := passed + many;
      END LOOP;
      UPDATE filedb.stores SET head = number WHERE id = the_store;
      IF number % 1000 = 0 THEN PERFORM filedb.forget(the_store, kept, 10000); END IF;
      RETURN number;
    END
    $append$;
    """

  /// The number of the commit with a token. If there is none, this makes sure that there never will be.
  private static let settle = """
    CREATE OR REPLACE FUNCTION filedb.settle(the_store bigint, the_token uuid, since bigint)
    RETURNS bigint LANGUAGE plpgsql AS $settle$
    DECLARE
      number bigint;
      forgotten bigint;
    BEGIN
      IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      -- Wait for a transaction that may be appending it.
      SELECT start, CASE WHEN start_token = the_token THEN start END INTO forgotten, number
        FROM filedb.stores WHERE id = the_store FOR UPDATE;
      IF number IS NOT NULL THEN RETURN number; END IF;
      SELECT sequence INTO number FROM filedb.commits WHERE store = the_store AND token = the_token;
      IF number IS NULL AND forgotten > since THEN
        RAISE EXCEPTION 'the commit may be among those that the log has forgotten' USING ERRCODE = 'FD004';
      END IF;
      IF number IS NULL THEN
        INSERT INTO filedb.refused (store, token) VALUES (the_store, the_token) ON CONFLICT DO NOTHING;
      END IF;
      RETURN number;
    END
    $settle$;
    """

  /// Forgets the commits that are older than `age`, starting with the oldest, and returns how many. Their changes are
  /// in the records.
  private static let forget = """
    CREATE OR REPLACE FUNCTION filedb.forget(the_store bigint, age interval, at_most bigint)
    RETURNS bigint LANGUAGE plpgsql AS $forget$
    DECLARE
      former bigint;
      number bigint;
    BEGIN
      SELECT start INTO former FROM filedb.stores WHERE id = the_store FOR UPDATE;
      SELECT max(sequence) INTO number FROM (
        SELECT sequence, bool_and(committed <= clock_timestamp() - age) OVER (ORDER BY sequence) AS is_old
        FROM (
          SELECT sequence, committed FROM filedb.commits
          WHERE store = the_store ORDER BY sequence LIMIT at_most
        ) AS first
      ) AS judged WHERE is_old;
      IF number IS NULL THEN RETURN 0; END IF;
      UPDATE filedb.stores SET start = number, start_token = (
        SELECT token FROM filedb.commits WHERE store = the_store AND sequence = number
      ) WHERE id = the_store;
      DELETE FROM filedb.commits WHERE store = the_store AND sequence <= number;
      RETURN number - former;
    END
    $forget$;
    """
}
