import FileDBEssentials

/// The elements of a property list.
enum PlistElement: String {
  case plist, dict, key, array, string, integer, real, date, data
  case `true`, `false`
}

/// A step from a value to one inside it.
package enum PlistStep: Equatable, Sendable {
  case key(String)
  case index(Int)
}

/// What to find the lines of.
enum PlistSearch {
  /// The value at this path.
  case value([PlistStep])
  /// The elements of the array at this path, and the values in those that are dictionaries.
  case elements([PlistStep])
}

/// The part of the search that has just begun: the value, or a value in a dictionary with its key.
enum PlistSighting {
  case value
  case field(String)
}

/// Builds a value from the events of an XML parser, and refuses whatever is not a property list.
///
/// It knows nothing of XML's syntax; its caller adds the place to the errors.
struct PlistBuilder {
  private enum Phase { case beforePlist, inPlist, afterPlist }

  /// An array or dictionary that has not ended yet.
  private struct Container {
    let isDictionary: Bool
    var elements: [PlistValue] = []
    var entries: [PlistDictionary.Entry] = []
    var key: String?
  }

  private let limits: PlistLimits
  private let search: PlistSearch?
  private var phase = Phase.beforePlist
  private var containers: [Container] = []
  /// The scalar that has not ended yet, and its text so far.
  private var scalar: PlistElement?
  private var text: [UInt8] = []
  /// The size of the last dictionary, up to a limit: the records of a table have similar sizes.
  private var expectedEntries = 0
  private var longKeys = LongKeys()

  /// The root, after it is complete.
  private(set) var root: PlistValue?
  /// Set when a value begins that is searched for. The reader clears it.
  var sighting: PlistSighting?

  init(limits: PlistLimits, search: PlistSearch?) {
    self.limits = limits
    self.search = search
  }

  var isComplete: Bool { phase == .afterPlist }

  /// The start of an element that does not belong to property lists.
  func start(unknown name: String) throws(PlistError) {
    if phase == .beforePlist { throw PlistError(.notPropertyList(found: "its root element is <\(name)>")) }
    throw PlistError(.unexpectedElement(name))
  }

  mutating func start(_ element: PlistElement) throws(PlistError) {
    guard scalar == nil else { return try start(unknown: element.rawValue) }
    if phase == .beforePlist || element == .plist {
      guard phase == .beforePlist, element == .plist else { return try start(unknown: element.rawValue) }
      phase = .inPlist
      return
    }
    try checkPosition(of: element)
    if element != .key { noticeSought() }
    switch element {
    case .array, .dict:
      guard containers.count < limits.depth else { throw PlistError(.tooDeep(limit: limits.depth)) }
      var container = Container(isDictionary: element == .dict)
      if element == .dict { container.entries.reserveCapacity(expectedEntries) }
      containers.append(container)
    default:
      scalar = element
      text.removeAll(keepingCapacity: true)
    }
  }

  /// A dictionary takes a key, then a value; an array takes values; the document takes one.
  private func checkPosition(of element: PlistElement) throws(PlistError) {
    let top = containers.count - 1
    guard top >= 0 else {
      if element == .key || root != nil { throw PlistError(.unexpectedElement(element.rawValue)) }
      return
    }
    guard containers[top].isDictionary else {
      if element == .key { throw PlistError(.unexpectedElement("key")) }
      return
    }
    if containers[top].key == nil {
      if element != .key { throw PlistError(.missingKey) }
    } else if element == .key, let key = containers[top].key {
      throw PlistError(.missingValue(key: key))
    }
  }

  mutating func characters(_ bytes: UnsafeBufferPointer<UInt8>) throws(PlistError) {
    switch scalar {
    case .string, .key, .integer, .real, .date: text.append(contentsOf: bytes)
    case .data: text.append(contentsOf: bytes.lazy.filter { !isXMLSpace($0) })
    default:
      guard bytes.allSatisfy(isXMLSpace) else { throw PlistError(.unexpectedText) }
      return
    }
    guard text.count <= limits.valueBytes else {
      throw PlistError(.valueTooLarge(limit: limits.valueBytes))
    }
  }

  /// In a string or a key, CDATA is text like any other. Elsewhere it is not allowed.
  mutating func cdata(_ bytes: UnsafeBufferPointer<UInt8>) throws(PlistError) {
    guard scalar == .string || scalar == .key else { throw PlistError(.unexpectedText) }
    try characters(bytes)
  }

  mutating func end() throws(PlistError) {
    if let element = scalar {
      scalar = nil
      if element == .key {
        try begin(key: longKeys.string(text))
      } else {
        add(try value(of: element))
      }
    } else if let container = containers.popLast() {
      add(try value(of: container))
    } else {
      guard root != nil else { throw PlistError(.missingRoot) }
      phase = .afterPlist
    }
  }

  /// If the same key comes twice in succession, this notices it, with the line. Other duplicates are noticed when the
  /// dictionary ends.
  private mutating func begin(key: String) throws(PlistError) {
    let top = containers.count - 1
    let last = containers[top].entries.count - 1
    if last >= 0, compareUTF8(containers[top].entries[last].key, key) == 0 {
      throw PlistError(.duplicateKey(key))
    }
    containers[top].key = key
  }

  private mutating func add(_ value: PlistValue) {
    guard !containers.isEmpty else {
      root = value
      return
    }
    let top = containers.count - 1
    if containers[top].isDictionary {
      // There is always a key: `checkPosition` lets no value begin without one.
      let key = containers[top].key.take() ?? ""
      containers[top].entries.append(PlistDictionary.Entry(key: key, value: value))
    } else {
      containers[top].elements.append(value)
    }
  }

  private mutating func value(of container: Container) throws(PlistError) -> PlistValue {
    guard container.isDictionary else { return .array(container.elements) }
    if let key = container.key { throw PlistError(.missingValue(key: key)) }
    var twice = 0
    guard let dictionary = PlistDictionary(unsorted: container.entries, duplicate: { twice = $0 }) else {
      throw PlistError(.duplicateKey(container.entries[twice].key))
    }
    expectedEntries = min(dictionary.count, 32)
    return .dict(dictionary)
  }

  private func value(of element: PlistElement) throws(PlistError) -> PlistValue {
    if element == .string { return .string(String(decoding: text, as: UTF8.self)) }
    let value: PlistValue? = text.withUnsafeBufferPointer { bytes in
      switch element {
      case .integer: PlistNumber.integer(bytes)
      case .real: PlistNumber.real(bytes).map(PlistValue.real)
      case .date: PlistDate.parse(bytes).map(PlistValue.date)
      case .data: Base64.decode(bytes).map(PlistValue.data)
      case .true: .bool(true)
      case .false: .bool(false)
      default: nil
      }
    }
    if let value { return value }
    // An error shows what was found, but not a megabyte of it.
    let shown = String(decoding: text.prefix(60), as: UTF8.self)
    switch element {
    case .integer: throw PlistError(.invalidInteger(shown))
    case .real: throw PlistError(.invalidReal(shown))
    case .date: throw PlistError(.invalidDate(shown))
    default: throw PlistError(.invalidData)
    }
  }

  private mutating func noticeSought() {
    let depth = containers.count
    switch search {
    case nil: return
    case .value(let path): if depth == path.count, isInside(path) { sighting = .value }
    case .elements(let path):
      guard depth > path.count, !containers[path.count].isDictionary, isInside(path) else { return }
      if depth == path.count + 1 {
        sighting = .value
      } else if depth == path.count + 2, let key = containers[depth - 1].key {
        sighting = .field(key)
      }
    }
  }

  /// Whether the element that begins now is the value at `path`, or is inside it.
  private func isInside(_ path: [PlistStep]) -> Bool {
    zip(containers, path).allSatisfy { container, step in
      switch step {
      case .key(let key): container.key.map { compareUTF8($0, key) == 0 } ?? false
      case .index(let index): !container.isDictionary && container.elements.count == index
      }
    }
  }
}

/// Stores each long key once: a table has the same few keys in every record.
private struct LongKeys {
  /// Swift stores strings up to this length without allocating memory.
  private static let inlineBytes = 15

  private var keys: [(bytes: [UInt8], string: String)] = []

  mutating func string(_ bytes: [UInt8]) -> String {
    guard bytes.count > Self.inlineBytes else { return String(decoding: bytes, as: UTF8.self) }
    for position in keys.indices where keys[position].bytes == bytes { return keys[position].string }
    let string = String(decoding: bytes, as: UTF8.self)
    if keys.count < 16 { keys.append((bytes, string)) }
    return string
  }
}
