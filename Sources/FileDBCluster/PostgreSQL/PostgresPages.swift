/// The functions for paged tables: they read pages of records, and load records with `COPY`.
enum PostgresPages {
  static let script = """
    \(makePaged)

    \(page)

    \(load)
    """

  /// Makes a table paged that does not exist, or that is paged already. It stays paged forever, even after it was
  /// dropped.
  private static let makePaged = """
    CREATE OR REPLACE FUNCTION filedb.make_paged(the_store bigint, the_name text)
    RETURNS void LANGUAGE plpgsql AS $make_paged$
    BEGIN
      PERFORM FROM filedb.stores WHERE id = the_store FOR UPDATE;
      -- A client that loads records into it has locked its row. Fail instead of waiting for it.
      PERFORM FROM filedb.tables WHERE store = the_store AND name = the_name FOR UPDATE NOWAIT;
      INSERT INTO filedb.tables (store, name, sequence, exists, paged) VALUES (the_store, the_name, 0, false, true)
        ON CONFLICT (store, name) DO UPDATE SET paged = true WHERE NOT tables.exists;
      IF NOT (SELECT paged FROM filedb.tables WHERE store = the_store AND name = the_name) THEN
        RAISE EXCEPTION 'every machine holds this table' USING ERRCODE = 'FD007';
      END IF;
    END
    $make_paged$;
    """

  /// The ids of some records, beginning at an index. It sees the state at the start of the calling statement.
  private static let page = """
    CREATE OR REPLACE FUNCTION filedb.page(the_tab bigint, the_index bigint, many bigint)
    RETURNS bigint[] LANGUAGE plpgsql STABLE AS $page$
    DECLARE
      total bigint;
      the_place bigint;
      within bigint;
      found bigint[] := '{}';
      part bigint[];
    BEGIN
      SELECT count INTO total FROM filedb.tables WHERE id = the_tab;
      IF many <= 0 OR the_index NOT BETWEEN 0 AND total - 1 THEN RETURN found; END IF;
      SELECT place.the_place, place.within INTO the_place, within
        FROM filedb.locate(the_tab, the_index, total) AS place;
      many := least(many, total - the_index);
      FOR part IN
        SELECT listed.ids FROM filedb.chunks AS one, LATERAL (
          SELECT ids FROM filedb.chunk_ids WHERE tab = the_tab AND chunk = one.chunk OFFSET 0
        ) AS listed
        WHERE one.tab = the_tab AND one.place >= the_place ORDER BY one.place
      LOOP
        found := found || part[within + 1 : within + many - cardinality(found)];
        within := 0;
        EXIT WHEN cardinality(found) >= many;
      END LOOP;
      RETURN found;
    END
    $page$;
    """

  /// Loaded chunks are placed after all others at first.
  private static let load = """
    -- Splits the chunk that contains an index in the middle. Returns the place after which new records come.
    CREATE OR REPLACE FUNCTION filedb.cut(the_tab bigint, the_index bigint)
    RETURNS bigint LANGUAGE plpgsql AS $cut$
    DECLARE
      total bigint;
      number bigint;
      above record;
      below bigint[];
      step bigint;
    BEGIN
      SELECT count, last_chunk + 1 INTO total, number FROM filedb.tables WHERE id = the_tab;
      IF the_index = 0 THEN RETURN 0; END IF;
      -- The record above.
      SELECT * INTO above FROM filedb.locate(the_tab, the_index - 1, total);
      IF above.within + 1 = (SELECT count FROM filedb.chunks WHERE tab = the_tab AND chunk = above.the_chunk) THEN
        RETURN above.the_place;
      END IF;
      step := filedb.gap(the_tab, above.the_place, 1);
      IF step = 0 THEN
        PERFORM filedb.renumber(the_tab);
        SELECT place INTO above.the_place FROM filedb.chunks WHERE tab = the_tab AND chunk = above.the_chunk;
        step := filedb.gap(the_tab, above.the_place, 1);
      END IF;
      SELECT ids[above.within + 2 :] INTO below FROM filedb.chunk_ids
        WHERE tab = the_tab AND chunk = above.the_chunk;
      INSERT INTO filedb.chunk_ids (tab, chunk, ids) VALUES (the_tab, number, below);
      INSERT INTO filedb.chunks (tab, chunk, place, count)
        VALUES (the_tab, number, above.the_place + step, cardinality(below));
      UPDATE filedb.chunk_ids SET ids = ids[: above.within + 1] WHERE tab = the_tab AND chunk = above.the_chunk;
      UPDATE filedb.chunks SET count = above.within + 1 WHERE tab = the_tab AND chunk = above.the_chunk;
      UPDATE filedb.records SET chunk = number WHERE tab = the_tab AND id = ANY (below);
      UPDATE filedb.tables SET last_chunk = number WHERE id = the_tab;
      RETURN above.the_place;
    END
    $cut$;

    -- Moves the loaded chunks, which have the highest numbers, to their position after a place.
    CREATE OR REPLACE FUNCTION filedb.take_loaded(
      the_tab bigint, first_chunk bigint, last bigint, many bigint, behind bigint
    ) RETURNS void LANGUAGE plpgsql AS $take_loaded$
    BEGIN
      IF EXISTS (
        SELECT FROM filedb.chunks WHERE tab = the_tab AND place > behind AND chunk < first_chunk
      ) THEN
        UPDATE filedb.chunks AS present SET place = new.number * 4294967296
          FROM (
            SELECT chunk, row_number() OVER (
              ORDER BY CASE WHEN chunk >= first_chunk THEN 1 WHEN place <= behind THEN 0 ELSE 2 END, place
            ) AS number FROM filedb.chunks WHERE tab = the_tab
          ) AS new
          WHERE present.tab = the_tab AND present.chunk = new.chunk;
      END IF;
      UPDATE filedb.tables SET count = count + many, last_chunk = last WHERE id = the_tab;
    END
    $take_loaded$;
    """
}
