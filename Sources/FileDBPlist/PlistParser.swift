#if canImport(libxml2)
  import libxml2
#else
  import CLibXML2
#endif

/// Reads XML property lists. It is strict where data could be lost, and lenient where other programs write differently.
///
/// libxml2 parses the file in push mode, with handlers of FileDB's own. The parser uses no network and no external
/// document type, and knows only XML's five entities. Any warning of libxml2 is an error. See Decisions/002.
public struct PlistParser: ~Copyable {
  private let session: SAXSession
  private var source = PlistSource()
  /// The first error. Later ones are ignored.
  private var failure: PlistError?

  /// A parser of one document.
  public init(limits: PlistLimits = PlistLimits()) {
    session = SAXSession(limits: limits, search: nil)
  }

  private init(search: PlistSearch) {
    session = SAXSession(limits: PlistLimits(), search: search)
  }

  /// Reads the next bytes of the document, in pieces of any size.
  /// - Throws: the first error in the bytes so far; then every later call throws it, too.
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
  /// - Throws: the first error in the document.
  public mutating func finish() throws(PlistError) -> PlistValue {
    if let failure { throw failure }
    let session = session
    try source.finish { part throws(PlistError) in try session.push(part) }
    return try session.finish()
  }

  /// Parses `bytes` as a document and returns its root.
  /// - Throws: ``PlistError`` with line and column.
  /// - Complexity: O(*n*) in the number of bytes, and O(*k* log *k*) for a dictionary of *k* unsorted keys.
  public static func parse(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits()
  ) throws(PlistError) -> PlistValue {
    try inspect(bytes, limits: limits).root
  }

  /// The result of ``parse(_:limits:)``, and the line of a comment, which a rewrite would lose.
  package static func inspect(
    _ bytes: [UInt8], limits: PlistLimits = PlistLimits()
  ) throws(PlistError) -> (root: PlistValue, firstCommentLine: Int?) {
    var parser = PlistParser(limits: limits)
    try bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    return (try parser.finish(), parser.session.firstCommentLine)
  }

  /// The line on which the value at `path` begins; `nil` if the document does not contain it.
  ///
  /// This reads the document again. Lines are needed only if something is wrong, and a table of a million records
  /// should not store a million of them.
  package static func line(of path: [PlistStep], in bytes: [UInt8]) -> Int? {
    lines(of: .value(path), in: bytes).line(ofElement: 0)
  }

  /// The lines on which the elements of the array at `path` begin, and the values in those that are dictionaries. It
  /// finds all of them in one reading.
  package static func elementLines(of path: [PlistStep], in bytes: [UInt8]) -> PlistElementLines {
    lines(of: .elements(path), in: bytes)
  }

  private static func lines(of search: PlistSearch, in bytes: [UInt8]) -> PlistElementLines {
    var parser = PlistParser(search: search)
    try? bytes.withUnsafeBytesTyped { all throws(PlistError) in try parser.push(all) }
    _ = try? parser.finish()
    return parser.session.soughtLines
  }
}

/// One run of libxml2's push parser. It feeds a ``PlistBuilder``.
private final class SAXSession {
  /// libxml2 counts the bytes of a piece in a C `int`, and keeps a piece until it is used up.
  private static let pieceLength = 64 << 10

  private let limits: PlistLimits
  /// A pointer, because the handlers run dozens of times for each record: this saves reference counting and checks of
  /// exclusive access. Nobody else has the pointer while libxml2 runs.
  private let state: UnsafeMutablePointer<SAXState>
  private var byteCount = 0

  init(limits: PlistLimits, search: PlistSearch?) {
    self.limits = limits
    xmlInitParser()
    state = .allocate(capacity: 1)
    state.initialize(to: SAXState(builder: PlistBuilder(limits: limits, search: search)))
    var handler = SAXState.handler
    let context = xmlCreatePushParserCtxt(&handler, state, nil, 0, nil)
    // The encoding is known before the bytes come here, so libxml2 ignores the one that the document names.
    xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
    state.pointee.context = context
  }

  deinit {
    let context = state.pointee.context
    // libxml2 creates a document for an entity declaration even if no handler wants one.
    if let document = context?.pointee.myDoc { xmlFreeDoc(document) }
    xmlFreeParserCtxt(context)
    state.deinitialize(count: 1)
    state.deallocate()
  }

  var soughtLines: PlistElementLines { state.pointee.soughtLines }
  var firstCommentLine: Int? { state.pointee.firstCommentLine }

  func push(_ bytes: UnsafeRawBufferPointer) throws(PlistError) {
    byteCount += bytes.count
    guard byteCount <= limits.fileBytes else { throw PlistError(.fileTooLarge(limit: limits.fileBytes)) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Self.pieceLength)
      let characters = UnsafeRawBufferPointer(rebasing: piece).assumingMemoryBound(to: CChar.self)
      xmlParseChunk(state.pointee.context, characters.baseAddress, Int32(characters.count), 0)
      state.pointee.checkUnreadTag()
      if let failure = state.pointee.failure { throw failure }
      rest = rest.dropFirst(piece.count)
    }
  }

  func finish() throws(PlistError) -> PlistValue {
    state.pointee.isEnding = true
    xmlParseChunk(state.pointee.context, nil, 0, 1)
    if let failure = state.pointee.failure { throw failure }
    guard state.pointee.builder.isComplete, let root = state.pointee.builder.root else {
      throw state.pointee.located(.truncated)
    }
    return root
  }
}

/// The state that the handlers change.
private struct SAXState {
  /// libxml2 reads a tag as a whole and compares each attribute with all others. A tag of a few megabytes would take
  /// hours.
  private static let longestTag = 64 << 10
  private static let mostAttributes = 32

  var builder: PlistBuilder
  var context: xmlParserCtxtPtr?
  var failure: PlistError?
  var isEnding = false
  var soughtLines = PlistElementLines()
  var firstCommentLine: Int?
  /// The elements found so far, by the addresses of their names: libxml2 stores each name once as long as it parses.
  private var known: [(name: UnsafePointer<xmlChar>, element: PlistElement)] = []

  init(builder: PlistBuilder) { self.builder = builder }

  mutating func start(_ name: UnsafePointer<xmlChar>, prefix: UnsafePointer<xmlChar>?, attributes: Int) {
    if prefix == nil, attributes <= Self.mostAttributes, let element = element(name) {
      handle { builder throws(PlistError) in try builder.start(element) }
      return
    }
    let local = String(cString: name)
    let full = prefix.map { String(cString: $0) + ":" + local } ?? local
    handle { builder throws(PlistError) in
      guard attributes <= Self.mostAttributes else {
        throw PlistError(.malformed("<\(full)> has more than \(Self.mostAttributes) attributes"))
      }
      try builder.start(unknown: full)
    }
  }

  private mutating func element(_ name: UnsafePointer<xmlChar>) -> PlistElement? {
    for entry in known where entry.name == name { return entry.element }
    guard let element = PlistElement(rawValue: String(cString: name)) else { return nil }
    known.append((name, element))
    return element
  }

  /// The bytes that libxml2 has not read yet may be a long comment, but must not be a long tag.
  mutating func checkUnreadTag() {
    // After it is stopped, libxml2 has freed its input, and `cur` may still point into it.
    guard failure == nil else { return }
    guard let input = context?.pointee.input?.pointee, input.end - input.cur > Self.longestTag else { return }
    guard input.cur[0] == UInt8(ascii: "<"), input.cur[1] != UInt8(ascii: "!"),
      input.cur[1] != UInt8(ascii: "?")
    else { return }
    fail(located(.malformed("a tag is longer than \(Self.longestTag) bytes")))
  }

  /// Passes `event` to the builder. The first error ends parsing.
  /// - Parameter text: the text that libxml2 has just read, if the event is about text.
  @inline(__always)
  mutating func handle(
    passed text: UnsafeBufferPointer<UInt8>? = nil, _ event: (inout PlistBuilder) throws(PlistError) -> Void
  ) {
    guard failure == nil else { return }
    do throws(PlistError) {
      try event(&builder)
      if let sighting = builder.sighting {
        soughtLines.append(sighting, line: currentLine ?? 0)
        builder.sighting = nil
      }
    } catch {
      if let text {
        fail(error.reason == .unexpectedText ? located(error.reason, before: text) : located(error.reason))
      } else {
        // If the file ends inside a tag, libxml2 treats the tag as complete.
        fail(located(isAtEnd ? .truncated : error.reason))
      }
    }
  }

  mutating func noticeComment() {
    if firstCommentLine == nil { firstCommentLine = currentLine }
  }

  mutating func refuse(_ reason: PlistError.Reason) { fail(located(reason)) }

  mutating func fail(_ error: PlistError) {
    guard failure == nil else { return }
    failure = error
    xmlStopParser(context)
  }

  /// Whether libxml2 has reached the end of the file.
  private var isAtEnd: Bool {
    guard isEnding, let input = context?.pointee.input?.pointee else { return false }
    return input.cur >= input.end
  }

  private var currentLine: Int? { context?.pointee.input.map { Int($0.pointee.line) } }

  func located(_ reason: PlistError.Reason) -> PlistError {
    PlistError(reason, line: currentLine, column: context?.pointee.input.map { Int($0.pointee.col) })
  }

  /// The place of the first character of `text` that is not white space. libxml2 has already read `text`.
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

  /// Whether the text is XML, and only breaks the rules of namespaces, which mean nothing in a property list: a name of
  /// a processing instruction with a colon, an address of a namespace that is none.
  private static func isAboutNames(_ error: xmlError) -> Bool {
    [XML_NS_ERR_COLON, XML_WAR_NS_URI, XML_WAR_NS_URI_RELATIVE].contains(
      xmlParserErrors(rawValue: UInt32(bitPattern: error.code)))
  }

  /// Records an error or a warning of libxml2 itself.
  mutating func failed(_ error: xmlError) {
    guard failure == nil, !Self.isAboutNames(error) else { return }
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

/// libxml2 takes the first `>` that has arrived for the end of a tag, even if it is in quotes. Whether it reads such a
/// tag depends on how the file is cut into pieces, so it is always refused. No property list needs one.
private let tagEnd = UInt8(ascii: ">")

/// Whether a value contains `>`. libxml2 passes two pointers for each namespace, the second to its name. For each
/// attribute it passes five, and the last two point to the start and the end of its value.
private func holdsTagEnd(
  _ namespaces: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ namespaceCount: Int,
  _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, _ attributeCount: Int
) -> Bool {
  for index in 0..<namespaceCount {
    if let name = namespaces?[index * 2 + 1], xmlStrchr(name, tagEnd) != nil { return true }
  }
  for index in 0..<attributeCount {
    guard let start = attributes?[index * 5 + 3], let end = attributes?[index * 5 + 4] else { continue }
    if UnsafeBufferPointer(start: start, count: end - start).contains(tagEnd) { return true }
  }
  return false
}

/// The state, which libxml2 passes back to each handler.
private func owner(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<SAXState>? {
  pointer?.assumingMemoryBound(to: SAXState.self)
}

extension SAXState {
  /// All handlers that a property list needs. Declarations are refused.
  fileprivate static var handler: xmlSAXHandler {
    var handler = xmlSAXHandler()
    handler.initialized = XML_SAX2_MAGIC
    handler.startElementNs = {
      pointer, name, prefix, _, namespaceCount, namespaces, attributeCount, _, attributes in
      guard let name, let state = owner(pointer) else { return }
      let count = Int(namespaceCount + attributeCount)
      if count > 0, holdsTagEnd(namespaces, Int(namespaceCount), attributes, Int(attributeCount)) {
        return state.pointee.refuse(.malformed("'>' in an attribute"))
      }
      state.pointee.start(name, prefix: prefix, attributes: count)
    }
    handler.endElementNs = { pointer, _, _, _ in
      owner(pointer)?.pointee.handle { builder throws(PlistError) in try builder.end() }
    }
    handler.characters = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.pointee.handle(passed: bytes) { builder throws(PlistError) in
        try builder.characters(bytes)
      }
    }
    handler.ignorableWhitespace = handler.characters
    handler.cdataBlock = { pointer, characters, count in
      let bytes = UnsafeBufferPointer(start: characters, count: Int(count))
      owner(pointer)?.pointee.handle { builder throws(PlistError) in try builder.cdata(bytes) }
    }
    handler.comment = { pointer, _ in owner(pointer)?.pointee.noticeComment() }
    handler.serror = { pointer, error in
      guard let state = owner(pointer), let error else { return }
      state.pointee.failed(error.pointee)
    }
    handler.reference = { pointer, _ in owner(pointer)?.pointee.refuse(.undefinedEntity) }
    refuseDeclarations(&handler)
    return handler
  }

  private static func refuseDeclarations(_ handler: inout xmlSAXHandler) {
    // This runs after the name and the identifiers of the document type are read. A `[` would begin its own
    // declarations.
    handler.internalSubset = { pointer, _, _, systemID in
      guard let state = owner(pointer), let next = state.pointee.context?.pointee.input?.pointee.cur else {
        return
      }
      // Refusing a declaration frees what `next` points to.
      if next.pointee == UInt8(ascii: "[") {
        state.pointee.refuse(.documentTypeDeclaration)
      } else if let systemID, xmlStrchr(systemID, tagEnd) != nil {
        state.pointee.refuse(.malformed("'>' in the document type's identifier"))
      }
    }
    handler.entityDecl = { pointer, _, _, _, _, _ in owner(pointer)?.pointee.refuse(.documentTypeDeclaration)
    }
    handler.elementDecl = { pointer, _, _, _ in owner(pointer)?.pointee.refuse(.documentTypeDeclaration) }
    handler.notationDecl = { pointer, _, _, _ in owner(pointer)?.pointee.refuse(.documentTypeDeclaration) }
    handler.unparsedEntityDecl = { pointer, _, _, _, _ in
      owner(pointer)?.pointee.refuse(.documentTypeDeclaration)
    }
    handler.attributeDecl = { pointer, _, _, _, _, _, values in
      xmlFreeEnumeration(values)
      owner(pointer)?.pointee.refuse(.documentTypeDeclaration)
    }
  }
}
