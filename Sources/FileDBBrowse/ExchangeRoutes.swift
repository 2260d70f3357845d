import FileDB
import FileDBExchange

extension Site {
  static let exchangeRoutes: [Route] = [
    .get("api", "tables", "*", "export") { site, request in try site.export(request) },
    .post("api", "tables", "*", "paste") { site, request in try site.paste(request) },
  ]

  private func export(_ request: Request) throws -> Response {
    let table = try tables[request.tableName]
    let (format, type): (ExchangeFormat, String)
    switch try request.required("format") {
    case "json": (format, type) = (.json, "application/json; charset=utf-8")
    case "csv": (format, type) = (.delimited(.csv), "text/csv; charset=utf-8")
    default: throw RequestError.malformed("The format is json or csv.")
    }
    let export = TableExport(format: format, schema: try? table.snapshot.schema)
    let list = try request["ids"].map { try table.list(of: $0) } ?? list(table, request)
    return Response(
      headers: ["Content-Type": type],
      body: .pieces { send in try export.write(ListedRecords(list: list), send) })
  }

  /// Adds rows that were copied from a spreadsheet.
  private func paste(_ request: Request) throws -> Response {
    struct Rows: Decodable {
      let text: String
      let columns: [String]
      let at: PlaceJSON
    }
    let rows: Rows = try request.decoded()
    let (source, position) = (
      ImportSource(Array(rows.text.utf8), name: "the pasted rows"), try rows.at.position
    )
    var intake = TableImport(format: .delimited(.tsv, hasHeader: false))
    intake.fields = rows.columns
    intake.fallbackTypes = try intake.detectedTypes(of: source)
    let name = request.tableName
    let ids = try edit(
      name,
      in: { tx in
        let before = try tx[name].snapshot()
        _ = try intake.run(source, into: .records(name), at: position, in: &tx)
        return TableChange(from: before, to: try tx[name].snapshot()).steps.insertions.map(\.id)
      })
    return .ids(ids.map { RecordID($0) })
  }
}

extension WatchedTable {
  /// - Parameter text: ids separated by commas.
  fileprivate func list(of text: String) throws -> RecordList {
    let ids = try text.split(separator: ",").map { try Request.id(String($0)) }
    for id in ids { _ = try snapshot.record(with: id) }
    return RecordList(snapshot, ids)
  }
}

/// A list as a collection. Each record is looked up when it is needed.
private struct ListedRecords: RandomAccessCollection, Sendable {
  let list: RecordList

  var startIndex: Int { 0 }
  var endIndex: Int { list.count }
  subscript(place: Int) -> StoredRecord<Fields> { list[place] }
}
