import FileDB
import FileDBExchange
import Foundation
import TestSupport
import Testing

/// Text that is not UTF-8.
@Suite struct EncodingTests {
  /// The characters that windows-1252 has in place of the control characters of Latin-1, from byte 0x80 on; a space
  /// where it has none.
  private static let special = Array("€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ".unicodeScalars)

  private func format(_ encoding: String) throws -> DelimitedFormat {
    var format = DelimitedFormat.csv
    format.encoding = try #require(DelimitedFormat.Encoding(rawValue: encoding))
    return format
  }

  private func text(_ bytes: [UInt8], _ encoding: String) throws -> String? {
    var rest: [UInt8]? = Array("a\n".utf8) + bytes + [0x0A]
    var reader = DelimitedReader(name: "text", format: try format(encoding)) {
      defer { rest = nil }
      return rest
    }
    _ = try reader.next()
    return try reader.next()?.fields.first
  }

  /// A pipe may hand over a file in small pieces.
  @Test(arguments: [1, 2, 3, 4, 5, 7, 64, 4_095, 4_096, 4_097])
  func howAFileIsCutDoesNotChangeInWhichOrderItsBytesAreRead(length: Int) throws {
    let text = "\u{4EF7}\u{683C},\u{6570}\u{91CF}\n" + String(repeating: "1,2\n", count: 1_000)
    for isLittleEndian in [true, false] {
      let bytes = text.utf16.flatMap { unit in
        let bytes = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
        return isLittleEndian ? bytes.reversed() : bytes
      }
      var pieces = stride(from: 0, to: bytes.count, by: length).map { start in
        Array(bytes[start..<min(start + length, bytes.count)])
      }[...]
      var reader = DelimitedReader(name: "text", format: try format("utf-16")) { pieces.popFirst() }
      var rows: [[String]] = []
      while let row = try reader.next() { rows.append(row.fields) }
      #expect(rows.count == 1_001 && rows.first == ["\u{4EF7}\u{683C}", "\u{6570}\u{91CF}"])
    }
  }

  @Test func everyByteOfWindows1252IsReadAndWritten() throws {
    let format = try format("windows-1252")
    for byte in UInt8(0x20)...0xFF where byte != 0x22 && byte != 0x2C {
      let isSpecial = (0x80...0x9F).contains(byte)
      let scalar = isSpecial ? Self.special[Int(byte) - 0x80] : Unicode.Scalar(byte)
      if isSpecial, scalar == " " {
        let error = storeError { _ = try text([byte], "windows-1252") }
        #expect(
          error?.message.contains("is not WINDOWS-1252") == true, "\(byte): \(String(describing: error))")
        continue
      }
      #expect(try text([byte], "windows-1252") == String(scalar), "\(byte)")
      try withStore { store in
        let table = try store.table("t")
        try table.add(["a": .string("x\(scalar)")])
        let written = try exported(table.lastSnapshot, TableExport(format: .delimited(format), fields: ["a"]))
        #expect(written == Array("id,a\n1,x".utf8) + [byte, 0x0A])
      }
    }
  }

  /// They are control characters there, which hardly any text has.
  @Test func latin1RefusesTheBytesThatOnlyWindows1252Has() throws {
    for byte in UInt8(0x80)...0x9F {
      let error = try #require(storeError { _ = try text([byte], "latin-1") }, "\(byte)")
      #expect(error.line == 2 && error.message.contains("LATIN-1"), "\(error)")
      let isCharacter = Self.special[Int(byte) - 0x80] != " "
      #expect(error.message.contains("encoding may be windows-1252") == isCharacter, "\(error)")
      try withStore { store in
        let table = try store.table("t")
        for encoding in ["latin-1", "windows-1252"] {
          for id in try table.snapshot().ids { try table.delete(id) }
          try table.add(["a": .string(String(Unicode.Scalar(byte)))])
          let format = try format(encoding)
          let error = storeError {
            _ = try exported(table.lastSnapshot, TableExport(format: .delimited(format)))
          }
          #expect(error?.code == .unrepresentableValue, "\(byte) in \(encoding)")
        }
      }
    }
  }

  @Test func adviceNamesTheEncodingThatHasTheBytes() throws {
    let cases: [(bytes: [UInt8], advice: String)] = [
      ([0xE9], "latin-1"), (Array("caf".utf8) + [0xE9, 0x20] + Array("é".utf8), "latin-1"),
      ([0x93, 0x68, 0x69, 0x94], "windows-1252"), ([0xE9, 0x80], "windows-1252"),
      (Array("it".utf8) + [0x92, 0x73], "windows-1252"), (Array("é€ ".utf8) + [0x96], "windows-1252"),
    ]
    for (bytes, advice) in cases {
      let error = try #require(storeError { _ = try text(bytes, "utf-8") })
      #expect(error.message.hasSuffix("not UTF-8; the file's encoding may be \(advice)"), "\(error)")
    }
  }

  @Test func missingCharacterIsNamedWithTheEncodingThatHasIt() throws {
    try withStore { store in
      let table = try store.table("t")
      for (text, encoding, message) in [
        ("5 €", "latin-1", "Latin-1 has no character '€'; windows-1252 has it"),
        ("Č", "latin-1", "Latin-1 has no character 'Č'"),
        ("Č", "windows-1252", "Windows-1252 has no character 'Č'"),
      ] {
        for id in try table.snapshot().ids { try table.delete(id) }
        try table.add(["a": .string(text)])
        let format = try format(encoding)
        let error = storeError {
          _ = try exported(table.lastSnapshot, TableExport(format: .delimited(format)))
        }
        #expect(error?.message == message)
      }
    }
  }

  private static let texts = [
    "name,n\nFig,1\n", "Имя,Возраст\nИван,30\n", "名,一\n一一一,三\n", "a", "é\n",
  ]

  @Test func utf16WithoutAMarkIsNamed() throws {
    for text in Self.texts {
      for (encoding, name) in [
        (String.Encoding.utf16LittleEndian, "utf-16le"), (.utf16BigEndian, "utf-16be"),
      ] {
        let bytes = Array(try #require(text.data(using: encoding)))
        guard bytes.contains(0) else { continue }
        for format in [
          try .delimited(format("utf-8")), try .delimited(format("latin-1")),
          try .delimited(format("windows-1252")), ExchangeFormat.json, .ndjson,
        ] {
          try withStore { store in
            let error = storeError { try take(bytes, TableImport(format: format), of: store) }
            #expect(
              error?.message.hasPrefix("this is UTF-16 without a byte order mark; its encoding is \(name)")
                == true,
              "\(text) as \(format): \(String(describing: error))")
            #expect(error?.file == "file")
            let tables = try store.tableNames
            #expect(tables == [])
          }
        }
        for given in [name, "utf-16"] {
          try withStore { store in
            try take(bytes, TableImport(format: .delimited(format(given))), of: store)
            let title = text.split(whereSeparator: { ",\n".contains($0) }).first.map(String.init)
            let table = try store.table("t").snapshot()
            let names = text.contains(",") ? table.flatMap { $0.fields.dictionary.map(\.key) } : [title!]
            #expect(names.contains(title!), "\(text) as \(given)")
          }
        }
      }
    }
  }

  @Test func textInUTF8IsNotTakenForUTF16() throws {
    for text in Self.texts + ["", "a,b\n1,\u{1}\n", String(repeating: "é", count: 3_000)] {
      var rest: [UInt8]? = Array(text.utf8)
      var reader = DelimitedReader(name: "text", format: .csv) {
        defer { rest = nil }
        return rest
      }
      while try reader.next() != nil {}
    }
  }

  @Test func binaryFileIsNotTakenForUTF16() throws {
    let files: [[UInt8]] = [
      Array("SQLite format 3".utf8) + [0, 0x10, 0, 1, 1, 0, 0x40, 0x20, 0x20, 0, 0, 0, 1, 0, 0, 0, 2],
      [UInt8](repeating: 0, count: 64), Array("a,b\n".utf8) + [0],
    ]
    for bytes in files {
      let message = try withStore { store in
        storeError { try take(bytes, TableImport(format: .delimited(.csv)), of: store) }?.message
          ?? "taken as text"
      }
      #expect(!message.contains("UTF-16"), "\(message)")
    }
  }
}
