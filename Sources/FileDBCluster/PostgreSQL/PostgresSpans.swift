/// The total counts of the chunks in spans of places. So the n-th record of ten million is found without adding up the
/// counts of twenty thousand chunks.
///
/// A span is 2^40 places. If a table has only grown at its end, each span has 256 chunks.
enum PostgresSpans {
  static let script = """
    CREATE TABLE IF NOT EXISTS filedb.spans (
      tab bigint NOT NULL,
      span bigint NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (tab, span)
    ) WITH (fillfactor = 50);

    \(count)

    \(locate)

    \(indexOf)
    """

  /// Triggers that update the counts after any change of the chunks.
  private static let count = """
    CREATE OR REPLACE FUNCTION filedb.count_spans() RETURNS trigger LANGUAGE plpgsql AS $count_spans$
    BEGIN
      CASE TG_OP
        WHEN 'INSERT' THEN
          INSERT INTO filedb.spans SELECT tab, place >> 40, sum(count) FROM added GROUP BY 1, 2
            ON CONFLICT (tab, span) DO UPDATE SET count = spans.count + excluded.count;
        WHEN 'DELETE' THEN
          UPDATE filedb.spans AS present SET count = present.count - gone.count
            FROM (SELECT tab, place >> 40 AS span, sum(count) AS count FROM removed GROUP BY 1, 2) AS gone
            WHERE present.tab = gone.tab AND present.span = gone.span;
        WHEN 'UPDATE' THEN
          INSERT INTO filedb.spans
            SELECT tab, place >> 40, sum(count) FROM (
              SELECT tab, place, count FROM added UNION ALL SELECT tab, place, -count FROM removed
            ) AS changed GROUP BY 1, 2 HAVING sum(count) <> 0
            ON CONFLICT (tab, span) DO UPDATE SET count = spans.count + excluded.count;
      END CASE;
      RETURN NULL;
    END
    $count_spans$;

    CREATE OR REPLACE TRIGGER count_added AFTER INSERT ON filedb.chunks
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION filedb.count_spans();
    CREATE OR REPLACE TRIGGER count_removed AFTER DELETE ON filedb.chunks
      REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION filedb.count_spans();
    CREATE OR REPLACE TRIGGER count_changed AFTER UPDATE ON filedb.chunks
      REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION filedb.count_spans();
    """

  /// The chunk that contains an index, and the index within it. For the end of the table, it is the last chunk.
  private static let locate = """
    CREATE OR REPLACE FUNCTION filedb.locate(
      the_tab bigint, the_index bigint, total bigint,
      OUT the_chunk bigint, OUT the_place bigint, OUT within bigint
    ) LANGUAGE plpgsql STABLE AS $locate$
    DECLARE
      -- The index of an existing record.
      wanted bigint := least(the_index, total - 1);
      the_span bigint;
      passed bigint;
    BEGIN
      SELECT span, upto - count INTO the_span, passed FROM (
        SELECT span, count, sum(count) OVER (ORDER BY span) AS upto FROM filedb.spans WHERE tab = the_tab
      ) AS added_up WHERE upto > wanted ORDER BY span LIMIT 1;
      SELECT chunk, place, the_index - passed - (upto - count) INTO the_chunk, the_place, within FROM (
        SELECT chunk, place, count, sum(count) OVER (ORDER BY place) AS upto FROM filedb.chunks
        WHERE tab = the_tab AND place >= the_span << 40 AND place < (the_span + 1) << 40
      ) AS added_up WHERE passed + upto > wanted ORDER BY place LIMIT 1;
    END
    $locate$;
    """

  /// The index of a record; null if there is no such record.
  private static let indexOf = """
    CREATE OR REPLACE FUNCTION filedb.index_of(the_tab bigint, the_id bigint)
    RETURNS bigint LANGUAGE plpgsql STABLE AS $index_of$
    DECLARE
      the_chunk bigint;
      the_place bigint;
      within bigint;
      passed bigint;
    BEGIN
      -- Separate statements, because a join might read all chunks of the table.
      SELECT chunk INTO the_chunk FROM filedb.records WHERE tab = the_tab AND id = the_id;
      IF the_chunk IS NULL THEN RETURN NULL; END IF;
      SELECT place INTO the_place FROM filedb.chunks WHERE tab = the_tab AND chunk = the_chunk;
      SELECT array_position(ids, the_id) - 1 INTO within FROM filedb.chunk_ids
        WHERE tab = the_tab AND chunk = the_chunk;
      SELECT coalesce(sum(count), 0) INTO passed FROM filedb.spans
        WHERE tab = the_tab AND span < the_place >> 40;
      RETURN within + passed + (
        SELECT coalesce(sum(count), 0) FROM filedb.chunks
        WHERE tab = the_tab AND place >= the_place >> 40 << 40 AND place < the_place
      );
    END
    $index_of$;
    """
}
