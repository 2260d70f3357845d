#if canImport(libxml2)
  import libxml2
#else
  import CLibXML2
#endif

/// Reads XML property lists: strict where data could be lost, lenient where other writers differ.
///
/// libxml2 parses, in its push mode and with handlers of our own: no network, no external document type, no
/// entities but XML's five, and any warning of libxml2's is an error. See Decisions/002.
public struct PlistParser: ~Copyable {
  private let session: SAXSession
  private var source = PlistSource()
  /// The first error is the last word.
  private var failure: PlistError?

  public init(limits: PlistLimits = PlistLimits()) {
    session = SAXSession(limits: limits, sought: nil)
  }

  private init(limits: PlistLimits, sought: [PlistStep]) {
    session = SAXSession(limits: limits, sought: sought)
  }

  /// Takes the next bytes of the document, however they are cut.
  public mutating func push(_ piece: UnsafeRawBufferPointer) throws(PlistError) {
    if let failure { throw failure }
    let session = session
    do throws(PlistError) {
      try source.push(piece) { part throws(PlistError) in try session.push(part) }
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the document and returns its root.
  public mutating func finish() throws(PlistError) -> PlistValue {
    if let failure { throw failure }
    let session = session
    try source.finish { part throws(PlistError) in try session.push(part) }
    return try session.finish()
  }

  /// The root of the document that `bytes` are.
  /// - Throws: ``PlistError`` with line and column.
  /// - Complexity: O(*n*) in the number of bytes, and O(*k* log *k*) for a dictionary of *k* unsorted keys.
  public static func parse(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits()
  ) throws(PlistError) -> PlistValue {
    var parser = PlistParser(limits: limits)
    try bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    return try parser.finish()
  }

  /// The line on which the value at `path` begins; `nil` where the document does not hold it.
  ///
  /// It reads the document again: lines are wanted only when something is wrong, and a table of a million
  /// records should not carry a million of them.
  package static func line(of path: [PlistStep], in bytes: [UInt8]) -> Int? {
    var parser = PlistParser(limits: PlistLimits(), sought: path)
    try? bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    _ = try? parser.finish()
    return parser.session.soughtLine
  }
}

/// One run of libxml2's push parser, feeding a ``PlistBuilder``.
private final class SAXSession {
  /// libxml2 counts a piece's bytes in a C `int`, and keeps a piece until it is used up.
  private static let pieceLength = 64 << 10

  /// libxml2 reads a tag as a whole and compares each attribute with all others, so that a tag of a few megabytes
  /// would take hours.
  private static let longestTag = 64 << 10
  private static let mostAttributes = 32

  private let limits: PlistLimits
  private var builder: PlistBuilder
  private var context: xmlParserCtxtPtr?
  private var failure: PlistError?
  private var byteCount = 0
  private var isEnding = false
  private(set) var soughtLine: Int?

  init(limits: PlistLimits, sought: [PlistStep]?) {
    self.limits = limits
    builder = PlistBuilder(limits: limits, sought: sought)
    xmlInitParser()
    var handler = Self.handler
    context = xmlCreatePushParserCtxt(&handler, Unmanaged.passUnretained(self).toOpaque(), nil, 0, nil)
    // The encoding is settled before the bytes come here, so the document's own word on it is not asked again.
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
  }

  deinit {
    // libxml2 makes a document for an entity declaration even where no handler wants one.
    if let document = context?.pointee.myDoc { xmlFreeDoc(document) }
    xmlFreeParserCtxt(context)
  }

  func push(_ bytes: UnsafeRawBufferPointer) throws(PlistError) {
    byteCount += bytes.count
    guard byteCount <= limits.fileBytes else { throw PlistError(.fileTooLarge(limit: limits.fileBytes)) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceLength)
      let characters = UnsafeRawBufferPointer(rebasing: piece).assumingMemoryBound(to: CChar.self)
      xmlParseChunk(context, characters.baseAddress, Int32(characters.count), 0)
      checkUnreadTag()
      if let failure { throw failure }
      rest = rest.dropFirst(piece.count)
    }
  }

  fileprivate func start(_ name: UnsafePointer<xmlChar>, prefix: UnsafePointer<xmlChar>?, attributes: Int) {
    let local = String(cString: name)
    let full = prefix.map { String(cString: $0) + ":" + local } ?? local
    handle { builder throws(PlistError) in
      guard attributes <= Self.mostAttributes else {
        throw PlistError(.malformed("<\(full)> has more than \(Self.mostAttributes) attributes"))
      }
      try builder.start(full)
    }
  }

  /// What libxml2 has not read yet may be a long comment, but not a long tag.
  private func checkUnreadTag() {
    guard let input = context?.pointee.input?.pointee, input.end - input.cur > Self.longestTag else { return }
    guard input.cur[0] == UInt8(ascii: "<"), input.cur[1] != UInt8(ascii: "!"),
      input.cur[1] != UInt8(ascii: "?")
    else { return }
    fail(located(.malformed("a tag is longer than \(Self.longestTag) bytes")))
  }

  func finish() throws(PlistError) -> PlistValue {
    isEnding = true
    xmlParseChunk(context, nil, 0, 1)
    if let failure { throw failure }
    guard builder.isComplete, let root = builder.root else { throw located(.truncated) }
    return root
  }

  /// Runs `event` on the builder; the first error ends the parse.
  /// - Parameter text: what libxml2 has just passed, where the event is about text.
  fileprivate func handle(
    passed text: UnsafeBufferPointer<UInt8>? = nil, _ event: (inout PlistBuilder) throws(PlistError) -> Void
  ) {
    guard failure == nil else { return }
    do throws(PlistError) {
      try event(&builder)
      if builder.reachedSought, soughtLine == nil { soughtLine = currentLine }
    } catch {
      if let text {
        fail(error.reason == .unexpectedText ? located(error.reason, before: text) : located(error.reason))
      } else {
        // libxml2 takes a tag that the end of the file cuts short as if it were whole.
        fail(located(isAtEnd ? .truncated : error.reason))
      }
    }
  }

  fileprivate func refuse(_ reason: PlistError.Reason) { fail(located(reason)) }

  private func fail(_ error: PlistError) {
    guard failure == nil else { return }
    failure = error
    xmlStopParser(context)
  }

  /// Whether the file ends where libxml2 is.
  private var isAtEnd: Bool {
    guard isEnding, let input = context?.pointee.input?.pointee else { return false }
    return input.cur >= input.end
  }

  private var currentLine: Int? { context?.pointee.input.map { Int($0.pointee.line) } }

  private func located(_ reason: PlistError.Reason) -> PlistError {
    PlistError(reason, line: currentLine, column: context?.pointee.input.map { Int($0.pointee.col) })
  }

  /// The place where `text`, which libxml2 has passed already, has its first character that is not white space.
  private func located(_ reason: PlistError.Reason, before text: UnsafeBufferPointer<UInt8>) -> PlistError {
    let end = located(reason)
    guard let endLine = end.line, let endColumn = end.column else { return end }
    let found = text.drop(while: isXMLSpace)
    func characters(_ bytes: some Sequence<UInt8>) -> Int { bytes.count { $0 & 0xC0 != 0x80 } }
    let lines = found.count { $0 == UInt8(ascii: "\n") }
    if lines == 0 { return PlistError(reason, line: endLine, column: endColumn - characters(found)) }
    let before = text[..<found.startIndex]
    let column = before.lastIndex(of: UInt8(ascii: "\n")).map { characters(before[($0 + 1)...]) + 1 }
    return PlistError(reason, line: endLine - lines, column: column)
  }

  /// Takes note of an error, or a warning, of libxml2's own.
  fileprivate func failed(_ error: xmlError) {
    guard failure == nil else { return }
    let reason: PlistError.Reason
    switch xmlParserErrors(rawValue: UInt32(bitPattern: error.code)) {
    case XML_ERR_DOCUMENT_END where builder.isComplete, XML_ERR_INTERNAL_ERROR where builder.isComplete:
      reason = .malformed("there is more after </plist>")
    case XML_ERR_DOCUMENT_EMPTY where !isAtEnd:
      reason = .notPropertyList(found: "there is text before its root element")
    case XML_ERR_DOCUMENT_END, XML_ERR_TAG_NOT_FINISHED, XML_ERR_DOCUMENT_EMPTY: reason = .truncated
    case _ where isAtEnd: reason = .truncated
    case XML_ERR_UNDECLARED_ENTITY, XML_WAR_UNDECLARED_ENTITY: reason = .undefinedEntity
    default:
      let message = error.message.map { String(cString: $0) } ?? "error \(error.code)"
      reason = .malformed(message.split(whereSeparator: \.isNewline).first.map(String.init) ?? message)
    }
    if reason == .truncated {
      fail(located(reason))
    } else {
      fail(PlistError(reason, line: Int(error.line), column: Int(error.int2)))
    }
  }
}

/// The session that libxml2 hands back to each handler.
private func owner(_ pointer: UnsafeMutableRawPointer?) -> SAXSession? {
  pointer.map { Unmanaged<SAXSession>.fromOpaque($0).takeUnretainedValue() }
}

extension SAXSession {
  /// Every handler that a property list has use for; whatever declares something is refused.
  fileprivate static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = { pointer, name, prefix, _, namespaces, _, attributes, _, _ in
      guard let name else { return }
      owner(pointer)?.start(name, prefix: prefix, attributes: Int(namespaces + attributes))
    }
    handler.endElementNs = { pointer, _, _, _ in
      owner(pointer)?.handle { builder throws(PlistError) in try builder.end() }
    }
    handler.characters = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.handle(passed: bytes) { builder throws(PlistError) in try builder.characters(bytes) }
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.handle { builder throws(PlistError) in try builder.cdata(bytes) }
    }
    handler.serror = { pointer, error in
      guard let session = owner(pointer), let error else { return }
      session.failed(error.pointee)
    }
    handler.reference = { pointer, _ in owner(pointer)?.refuse(.undefinedEntity) }
    refuseDeclarations(&handler)
    return handler
  }

  private static func refuseDeclarations(_ handler: inout xmlSAXHandler) {
    // This runs once the document type's name and identifiers are read; a `[` would open its own declarations.
    handler.internalSubset = { pointer, _, _, _ in
      guard let session = owner(pointer), let next = session.context?.pointee.input?.pointee.cur else {
        return
      }
      if next.pointee == UInt8(ascii: "[") { session.refuse(.documentTypeDeclaration) }
    }
    handler.entityDecl = { pointer, _, _, _, _, _ in owner(pointer)?.refuse(.documentTypeDeclaration) }
    handler.elementDecl = { pointer, _, _, _ in owner(pointer)?.refuse(.documentTypeDeclaration) }
    handler.notationDecl = { pointer, _, _, _ in owner(pointer)?.refuse(.documentTypeDeclaration) }
    handler.unparsedEntityDecl = { pointer, _, _, _, _ in owner(pointer)?.refuse(.documentTypeDeclaration) }
    handler.attributeDecl = { pointer, _, _, _, _, _, values in
      xmlFreeEnumeration(values)
      owner(pointer)?.refuse(.documentTypeDeclaration)
    }
  }
}
