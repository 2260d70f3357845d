import FileDB
import FileDBExchange

extension Site {
  static let exchangeRoutes: [Route] = [
    .ask("api", "tables", "*", "export") { site, request in try site.export(request) },
    .ask("api", "parse") { _, request in try parse(request) },
    .post("api", "tables", "*", "paste") { site, request in try site.paste(request) },
  ]

  private func export(_ request: Request) throws -> Response {
    struct Export: Decodable {
      let format: String
      let ids: [String]?
    }
    let asked: Export = try request.decoded()
    let table = try tables[request.tableName]
    let (format, type): (ExchangeFormat, String)
    switch asked.format {
    case "json": (format, type) = (.json, "application/json; charset=utf-8")
    case "csv": (format, type) = (.delimited(.csv), "text/csv; charset=utf-8")
    case "tsv": (format, type) = (.delimited(.tsv), "text/tab-separated-values; charset=utf-8")
    default: throw RequestError.malformed("The format is json, csv or tsv.")
    }
    let export = TableExport(format: format, schema: try? table.snapshot.schema)
    let list =
      try asked.ids.map { try table.list(of: $0) } ?? list(table, request.decoded(as: ListQuery.self))
    return Response(
      headers: ["Content-Type": type],
      body: .pieces { send in try export.write(ListedRecords(list: list), send) })
  }

  /// Reads rows that were copied from a spreadsheet. The page shows them, and sends them back to be pasted.
  private static func parse(_ request: Request) throws -> Response {
    struct Text: Decodable { let text: String }
    let bytes = Array(try request.decoded(as: Text.self).text.utf8)
    let source = ImportSource(bytes, name: "the copied rows")
    var piece: [UInt8]? = bytes
    var reader = DelimitedReader(name: source.name, format: .tsv) {
      defer { piece = nil }
      return piece
    }
    var rows: [JSON] = []
    var width = 0
    while let row = try reader.next() {
      width = max(width, row.cells.count)
      // An empty cell without quotes means that there is no field.
      rows.append(.array(row.cells.map { $0.text.isEmpty && !$0.isQuoted ? .null : .string($0.text) }))
    }
    return .json(.object([("rows", .array(rows)), ("width", .number(width))]))
  }

  /// Adds rows that `parse` has read.
  private func paste(_ request: Request) throws -> Response {
    struct Rows: Decodable {
      let rows: [[String?]]
      let columns: [String]
      let at: PlaceJSON
    }
    let pasted: Rows = try request.decoded()
    let position = try pasted.at.position
    let writer = DelimitedWriter(format: .tsv)
    let source = ImportSource(Array(pasted.rows.map(writer.line).joined().utf8), name: "the pasted rows")
    var intake = TableImport(format: .delimited(.tsv, hasHeader: false))
    intake.fields = pasted.columns
    intake.fallbackTypes = try intake.detectedTypes(of: source)
    let name = request.tableName
    let edit = try edit(
      name,
      in: { tx in
        let before = try tx[name].snapshot()
        _ = try intake.run(source, into: .records(name), at: position, in: &tx)
        return TableChange(from: before, to: try tx[name].snapshot()).steps.insertions.map {
          RecordID<Fields>($0.id)
        }
      })
    return .done(edit)
  }
}

extension WatchedTable {
  fileprivate func list(of texts: [String]) throws -> RecordList {
    let ids = try texts.map(Request.id)
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
