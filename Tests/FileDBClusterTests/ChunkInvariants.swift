import TestSupport
import Testing

@testable import FileDBCluster

/// Queries the server of `Tests/Cluster/with-servers`.
@discardableResult
func runStatement(_ statement: String) throws -> [PostgresRow] {
  let server = try #require(PostgresServer.current)
  return try PostgresConnection(server.info, timeout: longestWait).run(statement, within: longestWait)
}

/// Fails if the chunks of any table are too large, or if their counts are wrong.
func checkChunks(sourceLocation: SourceLocation = #_sourceLocation) throws {
  let faults = try runStatement(
    """
    SELECT 'count' FROM filedb.chunks FULL JOIN filedb.chunk_ids USING (tab, chunk)
    WHERE count IS DISTINCT FROM cardinality(ids) OR count NOT BETWEEN 1 AND 512
    UNION ALL SELECT 'place' FROM filedb.chunks GROUP BY tab, place HAVING count(*) > 1
    UNION ALL SELECT 'record' FROM filedb.records FULL JOIN (
      SELECT tab, chunk, id FROM filedb.chunk_ids, unnest(ids) AS u (id)
    ) AS listed USING (tab, chunk, id) WHERE body IS NULL OR listed.id IS NULL
    UNION ALL SELECT 'table' FROM filedb.tables WHERE count <> (
      SELECT count(*) FROM filedb.records WHERE tab = tables.id
    )
    UNION ALL SELECT 'span' FROM (SELECT * FROM filedb.spans WHERE count <> 0) AS present FULL JOIN (
      SELECT tab, place >> 40 AS span, sum(count) AS count FROM filedb.chunks GROUP BY 1, 2
    ) AS added_up USING (tab, span) WHERE present.count IS DISTINCT FROM added_up.count
    UNION ALL SELECT 'last chunk' FROM filedb.tables, filedb.chunks WHERE tab = id AND chunk > last_chunk
    """)
  #expect(faults.isEmpty, "\(faults.map { $0.text(0) })", sourceLocation: sourceLocation)
}
