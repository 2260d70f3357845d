import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

/// The formats of import and export, as they are written on the command line.
enum ExchangeKind: String, ExpressibleByArgument, CaseIterable {
  case csv, tsv, json, ndjson, plist
  case binaryPlist = "binary-plist"
  case sqlite
}

/// Where records come from or go to.
enum ExchangeEndpoint {
  case stream(ExchangeFormat)
  case database(URL)
}

extension DelimitedFormat.Encoding: ExpressibleByArgument {}
extension DelimitedFormat.LineEnd: ExpressibleByArgument {}
extension DelimitedImport.EmptyText: ExpressibleByArgument {}
extension TableImport.ErrorPolicy: ExpressibleByArgument {}

/// The format of an imported or exported file.
struct ExchangeOptions: ParsableArguments {
  @Option(
    help: "The file's format. By default its extension decides, or else, in an import, its first characters.")
  var format: ExchangeKind?
  @Option(help: ArgumentHelp("For csv, the character between fields; 'tab' for a tab.", valueName: "c"))
  var separator: String?
  @Option(help: ArgumentHelp("For csv, the character around fields; empty for none.", valueName: "c"))
  var quote: String?
  @Option(help: "For csv, the encoding of the file; by default utf-8.")
  var encoding: DelimitedFormat.Encoding?
  @Flag(inversion: .prefixedNo, help: "For csv, whether the first row names the fields.")
  var header: Bool?

  private var isDelimitedOnly: Bool {
    separator != nil || quote != nil || encoding != nil || header != nil
  }

  /// The source of an import, as far as the options and the file's name tell. A database is recognized by its
  /// beginning, whatever its name. `nil` if they do not tell.
  func source(_ file: String) throws -> ExchangeEndpoint? {
    let isDatabase = format == nil && file != "-" && SQLiteSignature.begins(URL(fileURLWithPath: file))
    if isDatabase { return try database(file) }
    let isPacked = file != "-" && PackedFile.begins(URL(fileURLWithPath: file))
    guard isPacked else { return try named(file) }
    let endpoint = try named(file.lowercased().hasSuffix(".gz") ? String(file.dropLast(3)) : file)
    if case .database? = endpoint { throw ValidationError("Unpack the database first: gunzip '\(file)'.") }
    return endpoint
  }

  /// The format of an import that nothing names, from its beginning. If that does not tell, csv, because text tables
  /// have all kinds of extensions.
  func format(of source: ImportSource) throws -> ExchangeFormat {
    let beginning = try source.beginning(16)
    guard !SQLiteSignature.begins(beginning) else {
      throw ValidationError("This is a SQLite database, which cannot be read from a stream; name its file.")
    }
    return try ExchangeFormat.format(of: source, beginning: beginning) ?? .delimited(.csv)
  }

  /// The destination of an export.
  func destination(_ file: String) throws -> ExchangeEndpoint {
    if let endpoint = try named(file) { return endpoint }
    guard ["", "txt"].contains(fileExtension(of: file)) else {
      let formats = ExchangeKind.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("The extension of '\(file)' is not a format; give one with --format: \(formats).")
    }
    return .stream(.delimited(.csv))
  }

  /// What the options or the file's extension name. It is csv if an option applies only to csv.
  private func named(_ file: String) throws -> ExchangeEndpoint? {
    let databases = ["sqlite", "sqlite3", "db"]
    if format == .sqlite || (format == nil && databases.contains(fileExtension(of: file))) {
      return try database(file)
    }
    let byExtension = ExchangeFormat(fileExtension: fileExtension(of: file))
    guard let chosen = asked ?? byExtension ?? (isDelimitedOnly ? .delimited(.csv) : nil) else { return nil }
    guard case .delimited(let usual, _) = chosen else {
      try checkIsNotForText()
      return .stream(chosen)
    }
    return .stream(.delimited(try delimited(usual), hasHeader: header ?? true))
  }

  private func database(_ file: String) throws -> ExchangeEndpoint {
    let url = URL(fileURLWithPath: file)
    guard file != "-", !FileInfo.isStream(url) else {
      throw ValidationError("A SQLite database cannot be a stream; name a file.")
    }
    try checkIsNotForText()
    return .database(url)
  }

  private func checkIsNotForText() throws {
    guard !isDelimitedOnly else {
      throw ValidationError("--separator, --quote, --encoding and --header are for csv and tsv.")
    }
  }

  /// The format that was requested for a stream.
  private var asked: ExchangeFormat? {
    switch format {
    case .csv: .delimited(.csv)
    case .tsv: .delimited(.tsv)
    case .json: .json
    case .ndjson: .ndjson
    case .plist: .plist
    case .binaryPlist: .binaryPlist
    case .sqlite, nil: nil
    }
  }

  private func fileExtension(of file: String) -> String {
    URL(fileURLWithPath: file).pathExtension.lowercased()
  }

  private func delimited(_ usual: DelimitedFormat) throws -> DelimitedFormat {
    let separator = separator.map { ["tab", "\\t"].contains($0) ? "\t" : $0 }
    let quote = quote ?? usual.quote.map { String(Unicode.Scalar($0)) } ?? ""
    guard separator?.count ?? 1 == 1, quote.count <= 1,
      let format = DelimitedFormat(
        separator: separator?.first ?? Character(Unicode.Scalar(usual.separator)), quote: quote.first,
        encoding: encoding ?? usual.encoding)
    else { throw ValidationError("--separator takes one ASCII character, --quote another or none.") }
    return format
  }
}
