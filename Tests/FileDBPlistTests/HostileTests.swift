import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FileDBPlist

/// Files made to cost memory or time, or to make the reader open others.
///
/// Each is refused with an error that names the cause.
@Suite struct HostileTests {
  private static let bomb = """
    <!DOCTYPE plist [
      <!ENTITY a "ha">
      <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
      <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">
      <!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">
      <!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;">
      <!ENTITY f "&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;">
      <!ENTITY g "&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;">
      <!ENTITY h "&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;">
      <!ENTITY i "&h;&h;&h;&h;&h;&h;&h;&h;&h;&h;">
    ]>
    <plist version="&i;"><string>&i;</string></plist>
    """

  @Test func entityBombIsRefused() { expectDeclarationIsRefused(Self.bomb) }

  @Test(arguments: [
    #"[ <!ENTITY a SYSTEM "file:///etc/passwd"> ]"#,
    #"[ <!ENTITY % a SYSTEM "file:///etc/passwd"> %a; ]"#,
    #"[ <!ENTITY % a "<!ENTITY b 'c'>"> %a; ]"#,
    #"[ <!ATTLIST plist version CDATA "2.0"> ]"#,
    #"[ <!ELEMENT plist ANY> ]"#,
    #"[ <!NOTATION a SYSTEM "a"> ]"#,
    #"SYSTEM "a.dtd" [ ]"#,
    #"[ <!-- nothing --> ]"#,
  ])
  func declarationsInDocumentTypeAreRefused(type: String) {
    expectDeclarationIsRefused("<!DOCTYPE plist \(type)><plist><string>&a;</string></plist>")
  }

  private func expectDeclarationIsRefused(_ text: String) {
    for length in [1, 7, text.utf8.count] {
      let error = #expect(throws: PlistError.self) { try parse(Array(text.utf8), inPiecesOf: length) }
      #expect(error?.reason == .documentTypeDeclaration)
      #expect(error?.line == 1)
    }
  }

  /// Found by fuzzing: libxml2 took such a `>` for the tag's end where the file was cut behind it, and read it
  /// elsewhere.
  @Test(arguments: [
    #"<!DOCTYPE plist SYSTEM "a>b"><plist><true/></plist>"#,
    #"<!DOCTYPE plist PUBLIC "a" 'b>'><plist><true/></plist>"#,
    #"<plist version="1>0"><true/></plist>"#,
    #"<plist version="&gt;"><true/></plist>"#,
    #"<plist a="b" c="d>"><true/></plist>"#,
    #"<plist xmlns="a>"><true/></plist>"#,
    #"<plist xmlns:a="b" xmlns:c="d>e"><true/></plist>"#,
  ])
  func tagWithGreaterThanSignInQuotesIsRefused(text: String) {
    let bytes = Array((text + String(repeating: "\n", count: 2_000)).utf8)
    for length in [1, 7, bytes.count] {
      let error = #expect(throws: PlistError.self) { try parse(bytes, inPiecesOf: length) }
      guard case .malformed = error?.reason else {
        Issue.record("in pieces of \(length): \(String(describing: error))")
        continue
      }
    }
  }

  /// Without a declaration inside the file an entity is unknown, wherever else it may be declared.
  @Test(arguments: ["&a;", "&nbsp;", "&AMP;"]) func entitiesOfExternalDocumentTypeAreUndefined(entity: String)
  {
    let type = #"<!DOCTYPE plist SYSTEM "file:///nonexistent/plist.dtd">"#
    for body in ["<plist><string>\(entity)</string></plist>", "<plist version='\(entity)'><true/></plist>"] {
      let error = #expect(throws: PlistError.self) { try PlistParser.parse(Array((type + body).utf8)) }
      #expect(error?.reason == .undefinedEntity)
    }
  }

  /// The document type names a pipe: whoever opened it would take out what is in it, and wait for more.
  @Test func externalDocumentTypeIsNotOpened() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("filedb-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let pipe = folder.appendingPathComponent("plist.dtd").path
    try #require(mkfifo(pipe, 0o600) == 0)

    let descriptor = open(pipe, O_RDWR | O_NONBLOCK)
    defer { close(descriptor) }
    try #require(write(descriptor, "<!--", 4) == 4)
    for place in [pipe, "file://\(pipe)"] {
      let text = "<!DOCTYPE plist SYSTEM \"\(place)\"><plist><string>&amp;</string></plist>"
      let end = startThread("the parser") {
        #expect((try? PlistParser.parse(Array(text.utf8))) == "&")
      }
      try end.wait()
    }
    var left = [UInt8](repeating: 0, count: 5)
    #expect(read(descriptor, &left, left.count) == 4)
  }

  @Test(arguments: ["<array>", "<dict><key>a</key>"]) func nestingBeyondLimitIsRefused(level: String) {
    let text = "<plist>" + String(repeating: level + "\n", count: 100_000)
    #expect(throws: PlistError.self) { try PlistParser.parse(Array(text.utf8)) }
    let error = #expect(throws: PlistError.self) { try parse(Array(text.utf8), inPiecesOf: 1_000) }
    #expect(error?.reason == .tooDeep(limit: 256))
    #expect(error?.line == 257)
  }

  @Test func nestingUpToLimitIsReadAndWritten() throws {
    var value = PlistValue.array([])
    for _ in 1..<256 { value = .array([value]) }
    #expect(try PlistParser.parse(try PlistWriter.document(value)) == value)
    #expect(throws: PlistError(.tooDeep(limit: 256))) { try PlistWriter.document(.array([value])) }
  }

  /// The document would be a gigabyte; the parser gives up at the limit, so it never holds more than that.
  @Test(arguments: [(64 << 20, "string"), (1 << 20, "string"), (1 << 20, "key"), (1 << 20, "data")])
  func endlessValueIsRefusedAtLimit(limit: Int, element: String) throws {
    var limits = PlistLimits()
    limits.valueBytes = limit
    var parser = PlistParser(limits: limits)
    try push("<plist><dict>\(element == "key" ? "" : "<key>a</key>")<\(element)>", to: &parser)
    let piece = String(repeating: "A", count: 1 << 20)
    var pushed = 0
    do throws(PlistError) {
      while pushed < 1024 {
        try push(piece, to: &parser)
        pushed += 1
      }
      Issue.record("a gigabyte was accepted")
    } catch {
      #expect(error.reason == .valueTooLarge(limit: limit))
      #expect(error.line == 1)
      #expect(pushed <= limit >> 20)
    }
    #expect(throws: PlistError.self) { try parser.finish() }
  }

  @Test func longTextIsReadWhole() throws {
    for count in [1_000_000, 11_000_000] {
      let line = "\(String(repeating: "a", count: 500))&\n"
      let value = PlistValue.string(String(repeating: line, count: count / 500))
      #expect(try PlistParser.parse(try PlistWriter.document(value)) == value)
    }
  }

  /// Tags are not kept apart like values: libxml2 holds one whole, and compares each attribute with all others.
  @Test func hugeTagsAreRefused() {
    let filler = String(repeating: "a", count: 11_000_000)
    let tags = [
      "<string a='\(filler)'>", "<\(filler)/>", "<string \(filler)='1'/>", "<string/\(filler)>",
      "<true></true\(String(repeating: " ", count: 1_000_000))>",
      "<string " + (0..<500_000).map { "a\($0)=''" }.joined(separator: " ") + "/>",
      "<string " + (0..<500_000).map { "xmlns:a\($0)='b'" }.joined(separator: " ") + "/>",
    ]
    for tag in tags {
      let error = #expect(throws: PlistError.self) {
        try PlistParser.parse(Array((PlistWriter.header + tag + "</plist>").utf8))
      }
      #expect(error?.line == 4, "\(tag.prefix(30))")
      guard case .malformed = error?.reason else {
        Issue.record("\(tag.prefix(30)): \(String(describing: error))")
        continue
      }
    }
  }

  @Test func attributesAreIgnoredUnlessTooMany() throws {
    func document(_ attributes: [String]) -> [UInt8] {
      Array("<plist><string \(attributes.joined(separator: " "))>a</string></plist>".utf8)
    }
    let names = (0..<33).map { "a\($0)" }
    #expect(try PlistParser.parse(document(names.prefix(32).map { "\($0)='1'" })) == "a")
    #expect(try PlistParser.parse(document(names.prefix(32).map { "xmlns:\($0)='1'" })) == "a")
    let reason = PlistError.Reason.malformed("<string> has more than 32 attributes")
    for many in [names.map { "\($0)='1'" }, names.map { "xmlns:\($0)='1'" }] {
      let error = #expect(throws: PlistError.self) { try PlistParser.parse(document(many)) }
      #expect(error?.reason == reason)
    }
  }

  @Test func commentsMayBeLongButNotHuge() throws {
    func document(_ count: Int) -> [UInt8] {
      Array("<plist><!--\(String(repeating: "a\n", count: count / 2))--><true/></plist>".utf8)
    }
    #expect(try PlistParser.parse(document(1_000_000)) == true)
    let error = #expect(throws: PlistError.self) { try PlistParser.parse(document(12_000_000)) }
    #expect(error?.line == 1)
  }

  @Test func whiteSpaceBeforeRootMayBeLong() throws {
    let space = String(repeating: " \n", count: 1_000)
    #expect(try PlistParser.parse(Array("\(space)<plist><true/></plist>".utf8)) == true)
    #expect(throws: PlistError(.empty)) { try PlistParser.parse(Array(space.utf8)) }
    #expect(throws: PlistError(.empty)) { try parse(Array(space.utf8), inPiecesOf: 100) }
    let error = #expect(throws: PlistError.self) { try PlistParser.parse(Array("\(space)milk".utf8)) }
    #expect(error?.line == 1_001)
  }

  /// The encoding that a declaration names must not escape notice, or the text would be read wrongly.
  @Test func encodingIsFoundInAnyFormOfXMLDeclaration() {
    for declaration in [
      "<?xml version='1.0' encoding='UTF-7'?>", "<?xml version='1.0'\n\tencoding\n=\n\"UTF-7\" ?>",
      "<?xml version=\"1.0\"\(String(repeating: " ", count: 400))encoding='UTF-7'?>",
    ] {
      let error = #expect(throws: PlistError.self) {
        try PlistParser.parse(Array("\(declaration)<plist><string>+AGE-</string></plist>".utf8))
      }
      #expect(error?.reason == .unsupportedEncoding("UTF-7"))
    }
    let far =
      "<?xml version='1.0'\(String(repeating: " ", count: 1_100))encoding='UTF-7'?><plist><true/></plist>"
    for length in [far.utf8.count, 3] {
      let error = #expect(throws: PlistError.self) { try parse(Array(far.utf8), inPiecesOf: length) }
      #expect(error?.reason == .malformed("the XML declaration is too long"))
    }
    let stylesheet = "<?xml-stylesheet href='encoding=\"x\"'?><plist><true/></plist>"
    #expect(throws: Never.self) { try PlistParser.parse(Array(stylesheet.utf8)) }
  }

  @Test func parserStaysFailedAfterFirstError() throws {
    var parser = PlistParser(limits: PlistLimits(fileBytes: 3_000))
    try push("<plist><true/></plist>" + String(repeating: " ", count: 2_000), to: &parser)
    #expect(throws: PlistError(.fileTooLarge(limit: 3_000))) {
      try push(String(repeating: " ", count: 2_000), to: &parser)
    }
    #expect(throws: PlistError(.fileTooLarge(limit: 3_000))) { try push(" ", to: &parser) }
    #expect(throws: PlistError(.fileTooLarge(limit: 3_000))) { try parser.finish() }
  }

  private func push(_ text: String, to parser: inout PlistParser) throws(PlistError) {
    try Array(text.utf8).withUnsafeBytesTyped { bytes throws(PlistError) in try parser.push(bytes) }
  }
}
