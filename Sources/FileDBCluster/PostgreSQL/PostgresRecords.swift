/// The records of all tables, by id and in order, and the functions that apply a commit's changes to them.
///
/// The order is stored in chunks of at most 512 ids. There are gaps between the places of chunks, so a new chunk fits
/// between two others without renumbering. Each chunk has a count. So the n-th record is found without reading the ids
/// before it. `PostgresSpans` adds the counts up, so it is not necessary to read all chunks before it either.
enum PostgresRecords {
  static let script = """
    CREATE TABLE IF NOT EXISTS filedb.records (
      tab bigint NOT NULL,
      id bigint NOT NULL,
      chunk bigint NOT NULL,
      body bytea NOT NULL,
      PRIMARY KEY (tab, id)
    ) WITH (fillfactor = 90);

    CREATE TABLE IF NOT EXISTS filedb.chunks (
      tab bigint NOT NULL,
      chunk bigint NOT NULL,
      place bigint NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (tab, chunk)
    ) WITH (fillfactor = 50);
    CREATE INDEX IF NOT EXISTS chunks_by_place ON filedb.chunks (tab, place);

    -- Not in the table of chunks: there, many counts are read one after another.
    CREATE TABLE IF NOT EXISTS filedb.chunk_ids (
      tab bigint NOT NULL,
      chunk bigint NOT NULL,
      ids bigint[] NOT NULL,
      PRIMARY KEY (tab, chunk)
    );

    \(PostgresSpans.script)

    \(place)

    \(takeOut)

    \(clear)

    \(change)
    """

  /// Puts records at an index, in order. The bodies of new records are in the payload. If `starts` is null, the records
  /// were taken out of the order before.
  private static let place = """
    CREATE OR REPLACE FUNCTION filedb.place(
      the_tab bigint, the_index bigint, the_ids bigint[], starts bigint[], lengths bigint[], the_payload bytea
    ) RETURNS void LANGUAGE plpgsql AS $place$
    DECLARE
      total bigint;
      last bigint;
      at_chunk bigint;
      at_place bigint;
      cut bigint := 0;
      old bigint[] := '{}';
      -- The ids to split into pieces, and the number of new chunks before the first piece.
      all_ids bigint[];
      shift bigint := 0;
      many bigint := cardinality(the_ids);
      size bigint;
      added bigint;
      step bigint;
      piece record;
    BEGIN
      IF many = 0 THEN RETURN; END IF;
      SELECT count, last_chunk INTO total, last FROM filedb.tables WHERE id = the_tab;
      IF total = 0 THEN
        -- As if it followed a full chunk.
        at_place := 0;
        shift := 1;
      ELSE
        SELECT * INTO at_chunk, at_place, cut FROM filedb.locate(the_tab, the_index, total);
        SELECT ids INTO old FROM filedb.chunk_ids WHERE tab = the_tab AND chunk = at_chunk;
        -- A table that grows at its end gets full chunks.
        IF cut = cardinality(old) AND cut + many > 512 THEN shift := 1; END IF;
      END IF;
      IF shift = 1 THEN
        cut := 0;
        all_ids := the_ids;
      ELSE
        all_ids := old[1 : cut] || the_ids || old[cut + 1 :];
      END IF;
      added := CASE WHEN cardinality(all_ids) > 512 THEN (cardinality(all_ids) + 383) / 384 ELSE 1 END;
      size := (cardinality(all_ids) + added - 1) / added;
      added := (cardinality(all_ids) + size - 1) / size + shift - 1;

      IF added > 0 THEN
        step := filedb.gap(the_tab, at_place, added);
        IF step = 0 THEN
          PERFORM filedb.renumber(the_tab);
          SELECT place INTO at_place FROM filedb.chunks WHERE tab = the_tab AND chunk = at_chunk;
          step := filedb.gap(the_tab, at_place, added);
        END IF;
        INSERT INTO filedb.chunks (tab, chunk, place, count)
          SELECT the_tab, last + k, at_place + step * k,
            least(size, cardinality(all_ids) - (k - shift) * size)
          FROM generate_series(1, added) AS k;
      END IF;
      IF shift = 0 THEN
        UPDATE filedb.chunks SET count = least(size, cardinality(all_ids))
          WHERE tab = the_tab AND chunk = at_chunk;
      END IF;
      IF added = 0 THEN
        UPDATE filedb.chunk_ids SET ids = all_ids WHERE tab = the_tab AND chunk = at_chunk;
      ELSE
        INSERT INTO filedb.chunk_ids (tab, chunk, ids)
          SELECT the_tab, CASE k WHEN 0 THEN at_chunk ELSE last + k END, array_agg(id ORDER BY n)
          FROM (SELECT id, n, (n - 1) / size + shift AS k FROM unnest(all_ids) WITH ORDINALITY AS u (id, n)) AS pieces
          GROUP BY k
          ON CONFLICT (tab, chunk) DO UPDATE SET ids = excluded.ids;
      END IF;

      IF starts IS NOT NULL THEN
        INSERT INTO filedb.records (tab, id, chunk, body)
          SELECT the_tab, id,
            CASE (cut + n - 1) / size + shift WHEN 0 THEN at_chunk ELSE last + (cut + n - 1) / size + shift END,
            substr(the_payload, start::integer, length::integer)
          FROM unnest(the_ids, starts, lengths) WITH ORDINALITY AS u (id, start, length, n);
      END IF;
      -- Records that were taken out, and their neighbours if a chunk was split. This uses arrays of ids, because a join
      -- with a list might read all records of the table.
      FOR piece IN
        SELECT CASE k WHEN 0 THEN at_chunk ELSE last + k END AS chunk, array_agg(id) AS ids
        FROM (
          SELECT id, (n - 1) / size + shift AS k FROM unnest(all_ids) WITH ORDINALITY AS u (id, n)
          WHERE CASE WHEN n > cut AND n <= cut + many THEN starts IS NULL ELSE shift = 0 AND added > 0 END
        ) AS moved GROUP BY k
      LOOP
        UPDATE filedb.records SET chunk = piece.chunk
          WHERE tab = the_tab AND id = ANY (piece.ids) AND chunk <> piece.chunk;
      END LOOP;
      UPDATE filedb.tables SET count = count + many, last_chunk = last + added WHERE id = the_tab;
    END
    $place$;

    -- The distance between new chunks that fit between a place and the next one; 0 if they do not fit.
    CREATE OR REPLACE FUNCTION filedb.gap(the_tab bigint, at_place bigint, added bigint)
    RETURNS bigint LANGUAGE sql STABLE AS $gap$
      SELECT coalesce((min(place) - at_place) / (added + 1), 4294967296)
      FROM filedb.chunks WHERE tab = the_tab AND place > at_place;
    $gap$;

    CREATE OR REPLACE FUNCTION filedb.renumber(the_tab bigint) RETURNS void LANGUAGE sql AS $renumber$
      UPDATE filedb.chunks AS present SET place = new.number * 4294967296
        FROM (
          SELECT chunk, row_number() OVER (ORDER BY place) AS number FROM filedb.chunks WHERE tab = the_tab
        ) AS new
        WHERE present.tab = the_tab AND present.chunk = new.chunk;
    $renumber$;
    """

  /// Takes records out of the order. A chunk that becomes small is merged into the next one.
  private static let takeOut = """
    CREATE OR REPLACE FUNCTION filedb.take_out(the_tab bigint, the_ids bigint[])
    RETURNS void LANGUAGE plpgsql AS $take_out$
    DECLARE
      one record;
      rest bigint[];
      next_chunk bigint;
      next_count bigint;
    BEGIN
      FOR one IN
        SELECT chunk, array_agg(id) AS ids FROM filedb.records
        WHERE tab = the_tab AND id = ANY (the_ids) GROUP BY chunk
      LOOP
        SELECT array_agg(id ORDER BY n) INTO rest
          FROM filedb.chunk_ids, unnest(ids) WITH ORDINALITY AS u (id, n)
          WHERE tab = the_tab AND chunk = one.chunk AND NOT id = ANY (one.ids);
        rest := coalesce(rest, '{}');
        next_count := NULL;
        IF cardinality(rest) BETWEEN 1 AND 128 THEN
          SELECT chunk, count INTO next_chunk, next_count FROM filedb.chunks
            WHERE tab = the_tab AND place > (
              SELECT place FROM filedb.chunks WHERE tab = the_tab AND chunk = one.chunk
            ) ORDER BY place LIMIT 1;
        END IF;
        IF next_count + cardinality(rest) <= 384 THEN
          UPDATE filedb.chunk_ids SET ids = rest || ids WHERE tab = the_tab AND chunk = next_chunk;
          UPDATE filedb.chunks SET count = count + cardinality(rest) WHERE tab = the_tab AND chunk = next_chunk;
          UPDATE filedb.records SET chunk = next_chunk WHERE tab = the_tab AND id = ANY (rest);
          rest := '{}';
        END IF;
        IF cardinality(rest) = 0 THEN
          DELETE FROM filedb.chunks WHERE tab = the_tab AND chunk = one.chunk;
          DELETE FROM filedb.chunk_ids WHERE tab = the_tab AND chunk = one.chunk;
        ELSE
          UPDATE filedb.chunks SET count = cardinality(rest) WHERE tab = the_tab AND chunk = one.chunk;
          UPDATE filedb.chunk_ids SET ids = rest WHERE tab = the_tab AND chunk = one.chunk;
        END IF;
      END LOOP;
      UPDATE filedb.tables SET count = count - cardinality(the_ids) WHERE id = the_tab;
    END
    $take_out$;
    """

  private static let clear = """
    CREATE OR REPLACE FUNCTION filedb.clear(the_tab bigint) RETURNS void LANGUAGE sql AS $clear$
      DELETE FROM filedb.records WHERE tab = the_tab;
      DELETE FROM filedb.chunks WHERE tab = the_tab;
      DELETE FROM filedb.chunk_ids WHERE tab = the_tab;
      DELETE FROM filedb.spans WHERE tab = the_tab;
      UPDATE filedb.tables SET count = 0 WHERE id = the_tab;
    $clear$;
    """

  /// Applies one change. The caller has made sure that it fits the table.
  private static let change = """
    CREATE OR REPLACE FUNCTION filedb.change(
      the_tab bigint, verb text, number bigint, the_ids bigint[], starts bigint[], lengths bigint[],
      the_payload bytea
    ) RETURNS void LANGUAGE plpgsql AS $change$
    BEGIN
      CASE verb
        WHEN 'create' THEN
          UPDATE filedb.tables SET exists = true WHERE id = the_tab;
        WHEN 'drop' THEN
          PERFORM filedb.clear(the_tab);
          UPDATE filedb.tables SET exists = false, schema = NULL WHERE id = the_tab;
        WHEN 'insert' THEN
          PERFORM filedb.place(the_tab, number, the_ids, starts, lengths, the_payload);
          UPDATE filedb.tables SET counter = greatest(counter, (SELECT max(id) FROM unnest(the_ids) AS u (id)))
            WHERE id = the_tab;
        WHEN 'replace' THEN
          IF cardinality(the_ids) = 1 THEN
            -- The usual case. A join takes twice as long, and reads a small table as a whole.
            UPDATE filedb.records SET body = substr(the_payload, starts[1]::integer, lengths[1]::integer)
              WHERE tab = the_tab AND id = the_ids[1];
          ELSE
            UPDATE filedb.records AS present
              SET body = substr(the_payload, new.start::integer, new.length::integer)
              FROM unnest(the_ids, starts, lengths) AS new (id, start, length)
              WHERE present.tab = the_tab AND present.id = new.id;
          END IF;
        WHEN 'remove' THEN
          PERFORM filedb.take_out(the_tab, the_ids);
          DELETE FROM filedb.records WHERE tab = the_tab AND id = ANY (the_ids);
        WHEN 'move' THEN
          PERFORM filedb.take_out(the_tab, the_ids);
          PERFORM filedb.place(the_tab, number, the_ids, NULL, NULL, NULL);
        WHEN 'reorder' THEN
          DELETE FROM filedb.chunks WHERE tab = the_tab;
          DELETE FROM filedb.chunk_ids WHERE tab = the_tab;
          UPDATE filedb.tables SET count = 0 WHERE id = the_tab;
          PERFORM filedb.place(the_tab, 0, the_ids, NULL, NULL, NULL);
        WHEN 'removeAll' THEN
          PERFORM filedb.clear(the_tab);
        WHEN 'truncate' THEN
          PERFORM filedb.clear(the_tab);
          UPDATE filedb.tables SET counter = 0 WHERE id = the_tab;
        WHEN 'counter' THEN
          UPDATE filedb.tables SET counter = greatest(counter, number) WHERE id = the_tab;
        WHEN 'schema' THEN
          UPDATE filedb.tables SET schema = substr(the_payload, starts[1]::integer, lengths[1]::integer)
            WHERE id = the_tab;
        WHEN 'noSchema' THEN
          UPDATE filedb.tables SET schema = NULL WHERE id = the_tab;
      END CASE;
    END
    $change$;
    """
}
