import ArgumentParser
import FileDBExchange
import Foundation

/// The formats of import and export, as they are named on the command line.
enum ExchangeKind: String, ExpressibleByArgument, CaseIterable {
  case csv, tsv, json, ndjson, plist
  case binaryPlist = "binary-plist"
}

extension DelimitedFormat.Encoding: ExpressibleByArgument {}
extension DelimitedFormat.LineEnd: ExpressibleByArgument {}
extension DelimitedImport.EmptyText: ExpressibleByArgument {}
extension TableImport.ErrorPolicy: ExpressibleByArgument {}

/// The format of a file that comes or goes.
struct ExchangeOptions: ParsableArguments {
  @Option(help: "The file's format; where it is not given, the one of the file's extension, or csv.")
  var format: ExchangeKind?
  @Option(help: ArgumentHelp("Of csv, the character between fields; 'tab' for a tab.", valueName: "c"))
  var separator: String?
  @Option(help: ArgumentHelp("Of csv, the character around fields; empty for none.", valueName: "c"))
  var quote: String?
  @Option(help: "Of csv, how the file's characters are encoded; by default utf-8.")
  var encoding: DelimitedFormat.Encoding?
  @Flag(inversion: .prefixedNo, help: "Of csv, whether the first row has the fields' names.")
  var header: Bool?

  private var isDelimitedOnly: Bool {
    separator != nil || quote != nil || encoding != nil || header != nil
  }

  /// - Parameter file: its path; `nil` for standard input and output.
  func format(of file: String?) throws -> ExchangeFormat {
    let chosen = named ?? byExtension(of: file)
    guard case .delimited(let usual, _) = chosen else {
      guard !isDelimitedOnly else {
        throw ValidationError("--separator, --quote, --encoding and --header are for csv and tsv.")
      }
      return chosen
    }
    return .delimited(try delimited(usual), hasHeader: header ?? true)
  }

  private var named: ExchangeFormat? {
    switch format {
    case .csv: .delimited(.csv)
    case .tsv: .delimited(.tsv)
    case .json: .json
    case .ndjson: .ndjson
    case .plist: .plist
    case .binaryPlist: .binaryPlist
    case nil: nil
    }
  }

  private func byExtension(of file: String?) -> ExchangeFormat {
    // Tables of text have any extension.
    let known = file.flatMap { ExchangeFormat(fileExtension: URL(fileURLWithPath: $0).pathExtension) }
    return known ?? .delimited(.csv)
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
