import ArgumentParser
import FileDB
import FileDBExchange

extension TextNotation.DecimalMark: ExpressibleByArgument {}

extension DatePattern: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

/// How to read delimited text that is not as it should be.
struct DelimitedInput: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("For csv, leave out this many lines before the header.", valueName: "n"))
  var skipLines: Int?
  @Flag(
    help: "For csv, give columns without a name, or with another's name, names of their own, such as price_2."
  )
  var renameDuplicates = false
  @Flag(
    help:
      "For csv, take rows with fewer fields than the header, and rows with more, whose others become column_4 and so on."
  )
  var ragged = false
  @Option(
    help: ArgumentHelp(
      "For csv, the decimal mark of numbers: with ',', 1.234,50 is 1234.5; with '.', 1,234.50 is.",
      valueName: "c"))
  var decimal: TextNotation.DecimalMark?
  @Option(
    help: ArgumentHelp(
      "For csv, the form of dates: %d.%m.%Y, or %m/%d/%y %H:%M:%S, perhaps with an offset, %z.",
      valueName: "pattern"))
  var dateFormat: DatePattern?

  func validate() throws {
    if let skipLines, skipLines < 0 { throw ValidationError("--skip-lines must not be negative.") }
  }

  /// - Throws: `ValidationError` if one of the options is given.
  func checkIsAbsent() throws {
    guard skipLines == nil, !renameDuplicates, !ragged, decimal == nil, dateFormat == nil else {
      throw ValidationError(
        "--skip-lines, --rename-duplicates, --ragged, --decimal and --date-format are for csv and tsv.")
    }
  }

  func apply(to importer: inout TableImport) {
    guard case .delimited(var format, let hasHeader) = importer.format else { return }
    format.skippedLines += skipLines ?? 0
    importer.format = .delimited(format, hasHeader: hasHeader)
    if renameDuplicates { importer.tolerated.insert(.columnNames) }
    if ragged { importer.tolerated.insert(.rowLengths) }
    importer.notation = TextNotation(decimalMark: decimal, datePattern: dateFormat)
  }
}

/// Which option of `filedb import` helps.
enum ImportAdvice {
  /// The error with the options that may help. The library, which reports it, has no options.
  static func added(to error: StoreError) -> StoreError {
    let advice: String? =
      switch error.code {
      case StoreError.Code.columnName:
        "--rename-duplicates gives such columns names of their own; --header --columns a,b,c names them all"
      case StoreError.Code.rowLength:
        "--ragged takes rows of any length; --skip-lines N leaves out lines before the header"
      case StoreError.Code.strayQuote: "--quote '' takes quotes as any other character"
      case StoreError.Code.otherNumber: "--decimal ',' reads 1.234,50, and --decimal . reads 1,234.50"
      case StoreError.Code.otherDate: "--date-format '%d.%m.%Y' reads 31.12.2026"
      default: nil
      }
    var advised = error
    if let advice { advised.message += "; \(advice)" }
    return advised
  }

  /// Why a new column is text, and what to write if it should not be.
  static func text(for miss: ColumnDetection.NearMiss, of column: String) -> String {
    let (reason, option) =
      switch miss {
      case .rewritten(let type, let text, let written):
        ("'\(text)' as \(type) would be written \(written)", "--types \(column)=\(type)")
      case .decimalMark(let mark, let text):
        ("'\(text)' is not how FileDB writes a number", "--decimal '\(mark.rawValue)'")
      case .datePatterns(let patterns, let text):
        (
          "'\(text)' is not how FileDB writes a date",
          patterns.map { "--date-format '\($0)'" }.joined(separator: " or ")
        )
      }
    return "\(column): text, because \(reason); to change that, give \(option)"
  }
}

extension Terminal {
  private static let mostNames = 12

  /// Notes which new columns are not text, with a line for each type.
  static func note(newTypes types: [String: FieldType]) {
    let columns = Dictionary(grouping: types.keys.sorted()) { types[$0] ?? .string }
    let listed = FieldType.allCases.filter { $0 != .string && columns[$0] != nil }
    guard let width = listed.map(\.rawValue.count).max() else { return }
    note("types:")
    for type in listed {
      let names = columns[type] ?? []
      let rest = names.count - mostNames
      let shown =
        names.prefix(mostNames).joined(separator: ", ") + (rest > 0 ? ", and \(rest.grouped) more" : "")
      note("  \(type.rawValue)\(String(repeating: " ", count: width - type.rawValue.count))  \(shown)")
    }
  }
}
