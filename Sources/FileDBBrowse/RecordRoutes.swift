import FileDB
import FileDBEssentials

extension Site {
  static let recordRoutes: [Route] = [
    .get("api", "tables", "*", "records") { site, request in
      let start = try request.number("from", or: 0, in: 0...Int.max / 2)
      let count = try request.number("count", or: 200, in: 0...1_000)
      let table = try site.tables[request.tableName]
      let list = try site.list(table, request)
      return .json(
        .object([
          ("version", .string(table.version)), ("total", .number(list.count)), ("from", .number(start)),
          ("records", .array(list.records(from: start, count: count).map { JSON(inList: $0) })),
        ]))
    },
    .get("api", "tables", "*", "place") { site, request in
      let list = try site.list(site.tables[request.tableName], request)
      return .json(.object([("place", JSON(list.place(of: try request.id())))]))
    },
    .ask("api", "tables", "*", "present") { site, request in
      let list = try site.list(site.tables[request.tableName], request.decoded(as: ListQuery.self))
      return .json(.object([("ids", JSON(ids: list.present(try request.decoded(as: RecordIDs.self).all)))]))
    },
    .get("api", "tables", "*", "values") { site, request in
      let table = try site.tables[request.tableName].snapshot
      return .json(ColumnValues(of: try request.required("field"), in: table).json)
    },
    .get("api", "tables", "*", "record") { site, request in
      .json(JSON(whole: try site.tables[request.tableName].snapshot.record(with: request.id())))
    },
    .get("api", "tables", "*", "picture") { site, request in
      let record = try site.tables[request.tableName].snapshot.record(with: request.id())
      guard let data = record.fields[try request.required("field")]?.data, let picture = Picture(data) else {
        throw RequestError(.notFound, "notFound", "The record has no picture in this field.")
      }
      return Response(headers: ["Content-Type": picture.mediaType], body: .bytes(Array(data)))
    },
    .get("api", "predicate") { site, request in try site.check(request) },
  ]

  /// The records that a request asks for.
  func list(_ table: WatchedTable, _ request: Request) throws -> RecordList {
    try list(table, ListQuery(request))
  }

  func list(_ table: WatchedTable, _ query: ListQuery) throws -> RecordList {
    do { return try lists.list(table, query) } catch let error as StoreError {
      throw RequestError(error, in: query.condition)
    }
  }

  /// Checks a condition while it is being typed.
  private func check(_ request: Request) throws -> Response {
    let snapshot = try tables[request.required("table")].snapshot
    guard let text = request["where"] else {
      let fields = snapshot.prefix(500).flatMap { $0.fields.dictionary.map(\.key) }
      return .json(
        .object([
          ("fields", .array(Set(fields).sorted().map(JSON.string))),
          ("words", .array(Self.words.map(JSON.string))),
        ]))
    }
    do {
      let unknown = try RecordPredicate(text).unknownFields(in: snapshot)
      return .json(
        .object([
          ("ok", .bool(true)),
          (
            "unknown",
            .array(unknown.map { .object([("name", .string($0.name)), ("nearest", JSON($0.nearest))]) })
          ),
        ]))
    } catch let error as StoreError {
      throw RequestError(error, in: text)
    }
  }

  /// The words of the language of conditions.
  private static let words = [
    "=", "!=", "<", "<=", ">", ">=", "AND", "OR", "NOT", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE",
    "MATCHES", "IN",
    "BETWEEN", "IS NULL", "IS NOT NULL", "[c]", "[d]", "[cd]", "ANY", "ALL", "NONE", "now", "today",
  ]
}

extension RequestError {
  /// - Parameter condition: the text of the predicate that may contain the error.
  fileprivate init(_ error: StoreError, in condition: String?) {
    self.init(error)
    guard error.code == .invalidPredicate, let condition, let column = error.column else { return }
    position = condition.word(line: error.line ?? 1, column: column)
    // This is a line of the condition, not of a file.
    line = nil
  }
}

extension String {
  /// The range in UTF-16 units of the word at a place, or of the character if there is no word. At the end, an empty
  /// range.
  /// - Parameters:
  ///   - line: counted from 1.
  ///   - column: the character in the line, counted from 1.
  fileprivate func word(line: Int, column: Int) -> Range<Int> {
    var start = startIndex
    for _ in 1..<max(line, 1) {
      start = self[start...].firstIndex(where: \.isNewline).map(index(after:)) ?? endIndex
    }
    start = index(start, offsetBy: column - 1, limitedBy: endIndex) ?? endIndex
    var end = self[start...].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }.endIndex
    if end == start, end < endIndex { end = index(after: end) }
    let first = utf16.distance(from: startIndex, to: start)
    return first..<first + utf16.distance(from: start, to: end)
  }
}
