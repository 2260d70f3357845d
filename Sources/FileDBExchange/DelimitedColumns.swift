import FileDB

extension DelimitedImport {
  /// The columns of a text, and of the fields that rows may have beyond them.
  struct Columns {
    let named: [Column]
    /// The column at a place after the named ones.
    let unnamed: (_ position: Int) -> Column
    /// Whether the header ends with a separator, so that it may have one column more.
    var lastHasNoName = false

    init(named: [Column], unnamed: @escaping (_ position: Int) -> Column) {
      (self.named, self.unnamed) = (named, unnamed)
    }

    var names: [String] { named.map(\.name) }

    /// The columns of a row with this number of cells.
    func forRow(of count: Int) -> [Column] {
      count <= named.count ? named : named + (named.count..<count).map(unnamed)
    }

    /// The error in a row with another number of cells than there are named columns.
    func lengthFault(of row: ImportRow, _ cells: [DelimitedReader.Cell], file: String) -> StoreError {
      if lastHasNoName, cells.count == named.count + 1, let cell = cells.last {
        var error = StoreError(
          StoreError.Code.columnName, "column \(cells.count.grouped) has no name", file: file, line: cell.line
        )
        error.column = cell.column
        return error
      }
      return row.error(
        "expected \(named.count.counted("field")), found \(cells.count.grouped)",
        code: StoreError.Code.rowLength,
        file: file)
    }
  }

  struct Column {
    let name: String
    let type: FieldType
    /// The type of the field in the table, if that is the one to use.
    let held: HeldType?
    /// How its texts are written, if not as FileDB writes them.
    let notation: TextNotation?

    /// The types whose plain text is written as it is, the first that fits; `nil` if none is.
    var plainTypes: (FieldType, other: FieldType?)? {
      if notation != nil { return nil }
      return if case .numbers? = held { (.integer, .float) } else { (type, nil) }
    }

    func value(of text: String) -> PlistValue? {
      var text = text
      if let notation {
        guard let plain = notation.plain(text, as: type) else { return nil }
        text = plain
      }
      return held.map { $0.value(of: .string(text)) } ?? type.value(of: text)
    }
  }
}

extension DelimitedReader.Row {
  /// The cells with names. A separator at the end of the line begins no column.
  var cellsOfHeader: [DelimitedReader.Cell] { cells.count > 1 ? cells(of: cells.count - 1) : cells }

  /// The cells, without an empty one after a separator at the end of the line.
  /// - Parameter count: the number of columns.
  func cells(of count: Int) -> [DelimitedReader.Cell] {
    guard cells.count == count + 1, let last = cells.last, last.text.isEmpty, !last.isQuoted else {
      return cells
    }
    return cells.dropLast()
  }
}

/// Finds names for columns that have none of their own.
struct ColumnNames {
  private var taken: Set<FieldName>
  /// The number that the next column of a name gets.
  private var numbers: [FieldName: Int] = [:]

  /// - Parameter names: the names that columns have.
  init(besides names: [String]) { taken = Set(names.map { FieldName($0) }) }

  /// A name for the column at a position, counted from 0.
  func name(at position: Int) -> String {
    var names = self
    let name = "column_\(position + 1)"
    return taken.contains(FieldName(name)) ? names.another(name) : name
  }

  private mutating func another(_ name: String) -> String {
    var number = numbers[FieldName(name)] ?? 2
    while !taken.insert(FieldName("\(name)_\(number)")).inserted { number += 1 }
    numbers[FieldName(name)] = number + 1
    return "\(name)_\(number)"
  }

  /// These names, with others for columns that have none, or that of a column before.
  static func unique(_ names: [String]) -> [String] {
    var (others, seen) = (ColumnNames(besides: names), Set<FieldName>())
    return names.enumerated().map { position, name in
      if name.isEmpty { return others.name(at: position) }
      return seen.insert(FieldName(name)).inserted ? name : others.another(name)
    }
  }
}
