import FileDBPlist

/// Makes a valid table from a damaged one, and records what was done.
struct TableRepair {
  typealias Note = (text: String, line: Int?)

  private(set) var notes: [Note] = []
  /// The number of pieces of a damaged file that could not be read.
  private(set) var lostCount = 0

  /// New ids are above this one.
  private let highestID: Int64
  /// The ids of new records in the commits that will be carried out.
  private let newIDs: Set<AnyRecordID>

  /// The repaired table in `bytes`.
  /// - Parameters:
  ///   - waiting: the commits that will be carried out on it.
  ///   - floor: new ids are above this one.
  /// - Throws: ``StoreError/Code/notATable`` or ``StoreError/Code/damagedTable`` if no table can be found;
  ///   ``StoreError/Code/conflictMarkers``.
  static func repair(
    _ bytes: [UInt8], file: String, table: String, waiting: PendingTable?, newIDsAbove floor: Int64 = 0,
    limits: PlistLimits
  ) throws(StoreError) -> (state: TableState, repair: TableRepair) {
    var repair = TableRepair(
      highestID: max(waiting?.highestID ?? 0, floor), newIDs: waiting?.newIDs ?? [])
    let failure: PlistError
    do throws(PlistError) {
      if let state = repair.repair(try PlistParser.parse(bytes, limits: limits), in: bytes) {
        return (state, repair)
      }
      failure = PlistError(.notPropertyList(found: "nothing in it looks like a table"))
    } catch {
      failure = error
    }
    let fault = StoreError(failure, in: bytes, file: file, table: table)
    guard fault.code != .conflictMarkers else { throw fault }
    if isDamage(failure.reason), let state = repair.salvage(bytes, after: failure, limits: limits) {
      return (state, repair)
    }
    let isBegun = failure.reason == .truncated || "\(PlistWriter.header)".utf8.starts(with: bytes)
    guard waiting != nil, isBegun else { throw fault }
    repair.notes.append((failure.message, failure.line))
    repair.lostCount = 1
    return (TableState(counter: 0, records: [], foreignKeys: PlistDictionary()), repair)
  }

  /// A file that only exceeds a limit of the program, or that is in another encoding, may be intact. It is not taken
  /// apart.
  private static func isDamage(_ reason: PlistError.Reason) -> Bool {
    switch reason {
    case .tooDeep, .valueTooLarge, .fileTooLarge: false
    case .unsupportedEncoding(let name): !otherEncodings.contains { name.lowercased().hasPrefix($0) }
    default: true
    }
  }

  /// How the names of real encodings begin. Any other name is probably damaged.
  private static let otherEncodings = [
    "iso", "latin", "windows", "cp", "mac", "x-mac", "utf-7", "utf-16", "utf-32", "ucs", "shift", "euc",
    "big5", "gb", "koi",
    "ebcdic",
  ]

  private mutating func repair(_ root: PlistValue, in bytes: [UInt8]) -> TableState? {
    guard case .dict(var root) = root, case .array(let elements)? = root[TableFile.recordsKey] else {
      return nil
    }
    let counter = root[TableFile.counterKey].flatMap(Self.lenientNumber)
    if counter == nil {
      notes.append(("the counter is missing or is not a number; it becomes the highest id", nil))
    }
    let indexMap = root[TableFile.indexKey]
    for key in [TableFile.counterKey, TableFile.recordsKey, TableFile.indexKey] { root[key] = nil }
    let lines = PlistParser.elementLines(of: [.key(TableFile.recordsKey)], in: bytes)
    return state(of: elements, counter: counter, indexMap: indexMap, foreignKeys: root) {
      lines.line(ofElement: $0)
    }
  }

  private mutating func salvage(_ bytes: [UInt8], after failure: PlistError, limits: PlistLimits)
    -> TableState?
  {
    let found = TableSalvage(bytes, limits: limits)
    guard !found.records.isEmpty || found.counter != nil else { return nil }
    notes.append((failure.message, failure.line))
    notes += (found.corrected + found.lost).sorted { $0.line < $1.line }.map { ($0.text, $0.line) }
    if let line = found.lostSchema {
      notes.append(("the schema that begins here cannot be read; it is left out", line))
    }
    lostCount = found.lost.count
    let others = found.schema == nil ? "nothing else" : "the schema"
    let records = found.records.count.counted("record") + (found.records.count == 1 ? " was" : " were")
    notes.append(("\(records) read one by one, and \(others)", nil))
    let elements = found.records.map(\.value)
    var keys = PlistDictionary()
    keys[TableFile.schemaKey] = found.schema
    return state(of: elements, counter: found.counter, indexMap: nil, foreignKeys: keys) {
      found.records[$0].line
    }
  }

  /// The table of these elements, with a unique id for each.
  private mutating func state(
    of elements: [PlistValue], counter: AnyRecordID?, indexMap: PlistValue?, foreignKeys: PlistDictionary,
    line: (Int) -> Int?
  ) -> TableState {
    var given = elements.map { $0.dict?[TableFile.idKey].flatMap(Self.lenientNumber) }
    for (index, id) in lostIDs(of: given, indexMap) {
      let reason = given[index].map { "another record has the id \($0)" } ?? "this record has no id"
      notes.append(("\(reason); by the index map it is \(id)", line(index)))
      given[index] = id
    }
    var known = Set(given.compactMap(\.self))
    var counter = max(counter?.rawValue ?? 0, known.max()?.rawValue ?? 0)
    var taken: Set<AnyRecordID> = []
    var records: [EncodedRecord] = []
    for (index, element) in elements.enumerated() {
      var fields = element.dict ?? [:]
      fields[TableFile.idKey] = nil
      if element.dict == nil {
        fields["value"] = element
        notes.append(
          ("<\(element.typeName)> among the records becomes a record with the field 'value'", line(index)))
      }
      if let id = given[index], taken.insert(id).inserted {
        records.append(EncodedRecord(id: id, fields: Fields(fields)))
        continue
      }
      counter = max(counter, highestID)
      counter = counter == .max ? 0 : counter + 1
      while known.contains(AnyRecordID(counted: counter)) { counter += 1 }
      let id = AnyRecordID(counted: counter)
      known.insert(id)
      let reason = given[index].map { "a second record has the id \($0)" } ?? "this record has no id"
      notes.append(("\(reason); it is \(id) from now on", line(index)))
      records.append(EncodedRecord(id: id, fields: Fields(fields)))
    }
    return TableState(counter: counter, records: records, foreignKeys: foreignKeys)
  }

  /// The ids, from the index map, of records that have no id or the id of another record. If the map does not match the
  /// other records, it is not used.
  private func lostIDs(of given: [AnyRecordID?], _ indexMap: PlistValue?) -> [(index: Int, id: AnyRecordID)] {
    var indexed: [Int: AnyRecordID] = [:]
    for entry in indexMap?.dict ?? [:] {
      guard let id = AnyRecordID(entry.key), let index = entry.value.string.flatMap({ Int($0) }) else {
        return []
      }
      indexed[index] = id
    }
    let counts = Dictionary(given.compactMap { id in id.map { ($0, 1) } }, uniquingKeysWith: +)
    let isDoubtful = given.indices.map { index in
      guard let id = given[index] else { return true }
      return counts[id] != 1 || newIDs.contains(id) && indexed[index] != id
    }
    guard given.indices.allSatisfy({ isDoubtful[$0] || indexed[$0] == given[$0] }) else { return [] }
    // If several records share an id, the owner must be known before the others lose theirs.
    let owned = newIDs.union(given.indices.filter { indexed[$0] == given[$0] }.compactMap { given[$0] })
    return given.indices.compactMap { index in
      guard isDoubtful[index], let id = indexed[index], counts[id] == nil,
        given[index].map(owned.contains) ?? true
      else { return nil }
      return (index, id)
    }
  }

  /// Reads an id or a counter as a person may have written it: ` 007` is 7.
  private static func lenientNumber(_ value: PlistValue) -> AnyRecordID? {
    switch value {
    case .integer(let number): AnyRecordID(rawValue: number)
    case .string(var text):
      text.withUTF8 { PlistNumber.integer($0) }.flatMap(\.integer).flatMap(AnyRecordID.init(rawValue:))
    default: nil
    }
  }
}
