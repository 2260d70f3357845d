#if canImport(CLMDB)
  import CLMDB
  import Foundation

  /// A transaction, given up if it is not committed.
  final class LMDBTransaction {
    private var handle: OpaquePointer?
    private let table: LMDBTable

    init(_ environment: OpaquePointer?, _ table: LMDBTable, flags: Int32) throws {
      self.table = table
      try lmdb(mdb_txn_begin(environment, nil, UInt32(flags), &handle))
    }

    deinit { if let handle { mdb_txn_abort(handle) } }

    func commit() throws {
      defer { handle = nil }
      try lmdb(mdb_txn_commit(handle))
    }

    /// Goes on to the latest commit.
    func renew() throws {
      mdb_txn_reset(handle)
      try lmdb(mdb_txn_renew(handle))
    }
  }

  /// Rows.
  extension LMDBTransaction {
    func count() throws -> Int {
      var counts = MDB_stat()
      try lmdb(mdb_stat(handle, table.records, &counts))
      return Int(counts.ms_entries)
    }

    func entry(_ id: Int) throws -> Entry? { try get(table.records, UInt(id)).map { Entry(packed: $0) } }

    func first() throws -> Entry? { try cursor().move(MDB_FIRST).flatMap { try entry($0.id) } }

    /// All rows in their order.
    func entries() throws -> [Entry] {
      var entries: [Entry] = []
      entries.reserveCapacity(try count())
      let cursor = try cursor()
      while let place = try cursor.move(MDB_NEXT) {
        guard let entry = try entry(place.id) else { throw WrongResult("no record \(place.id)") }
        entries.append(entry)
      }
      return entries
    }

    func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
      let position = try position(of: id)
      let cursor = try cursor()
      guard try cursor.move(MDB_SET_KEY, position) != nil else { throw WrongResult("no place of \(id)") }
      let above = try cursor.move(MDB_PREV)?.id
      return (above, try place(below: position)?.id)
    }

    func perform(_ edit: Edit) throws -> Int {
      switch edit {
      case .add(let entry, let place):
        let id = try takeID()
        try put(entry, id, at: position(place))
        return id
      case .move(let id, let other):
        guard let entry = try entry(id) else { throw WrongResult("no record \(id)") }
        try delete(table.order, LMDBPlace.key(try position(of: id)))
        try put(entry, id, at: position(.after(other)))
        return id
      case .update(let id, let amount):
        let position = try position(of: id)
        guard var entry = try entry(id) else { throw WrongResult("no record \(id)") }
        entry.amount = amount
        try put(table.records, UInt(id), entry.packed(at: position))
        return id
      case .delete(let id):
        try delete(table.order, LMDBPlace.key(try position(of: id)))
        try delete(table.records, UInt(id))
        return id
      }
    }

    private func put(_ entry: Entry, _ id: Int, at position: Double) throws {
      try put(table.records, UInt(id), entry.packed(at: position))
      try put(table.order, LMDBPlace.key(position), withUnsafeBytes(of: id, Array.init))
    }

    /// An id that was never given before.
    private func takeID() throws -> Int {
      let last = try get(table.counter, 0)?.loadUnaligned(as: Int.self) ?? 0
      try put(table.counter, 0, withUnsafeBytes(of: last + 1, Array.init))
      return last + 1
    }

    private func position(_ place: Place) throws -> Double {
      switch place {
      case .top: return try cursor().move(MDB_FIRST).map { $0.position - 1 } ?? 1
      case .bottom: return try cursor().move(MDB_LAST).map { $0.position + 1 } ?? 1
      case .after(let id):
        let above = try position(of: id)
        return try self.place(below: above).map { (above + $0.position) / 2 } ?? above + 1
      }
    }

    private func position(of id: Int) throws -> Double {
      guard let record = try get(table.records, UInt(id)) else { throw WrongResult("no record \(id)") }
      return Entry.position(packed: record)
    }

    private func place(below position: Double) throws -> LMDBPlace? {
      let cursor = try cursor()
      guard try cursor.move(MDB_SET_KEY, position) != nil else { throw WrongResult("no place \(position)") }
      return try cursor.move(MDB_NEXT)
    }

    private func cursor() throws -> LMDBCursor { try LMDBCursor(handle, table.order) }
  }

  /// Keys and values.
  extension LMDBTransaction {
    /// - Returns: bytes that stay until the transaction ends or writes.
    private func get(_ database: MDB_dbi, _ key: UInt) throws -> UnsafeRawBufferPointer? {
      try withValue(of: key) { name in
        var value = MDB_val()
        let result = mdb_get(handle, database, &name, &value)
        if result == MDB_NOTFOUND { return nil }
        try lmdb(result)
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
      }
    }

    private func put(_ database: MDB_dbi, _ key: UInt, _ bytes: [UInt8]) throws {
      var bytes = bytes
      try withValue(of: key) { name in
        try bytes.withUnsafeMutableBytes {
          var value = MDB_val(mv_size: $0.count, mv_data: $0.baseAddress)
          try lmdb(mdb_put(handle, database, &name, &value, 0))
        }
      }
    }

    private func delete(_ database: MDB_dbi, _ key: UInt) throws {
      try withValue(of: key) { try lmdb(mdb_del(handle, database, &$0, nil)) }
    }
  }

  /// The record at a position.
  struct LMDBPlace {
    let position: Double
    let id: Int

    /// A number that is in the order of the positions.
    static func key(_ position: Double) -> UInt {
      let bits = UInt(position.bitPattern)
      return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    fileprivate init(key: UInt, id: Int) {
      position = Double(bitPattern: UInt64(key >> 63 == 1 ? key & ~(1 << 63) : ~key))
      self.id = id
    }
  }

  /// Goes from place to place.
  private final class LMDBCursor {
    private var handle: OpaquePointer?

    init(_ transaction: OpaquePointer?, _ order: MDB_dbi) throws {
      try lmdb(mdb_cursor_open(transaction, order, &handle))
    }

    deinit { mdb_cursor_close(handle) }

    /// - Returns: `nil` if there is no such place.
    func move(_ step: MDB_cursor_op, _ position: Double = 0) throws -> LMDBPlace? {
      try withValue(of: LMDBPlace.key(position)) { key in
        var value = MDB_val()
        let result = mdb_cursor_get(handle, &key, &value, step)
        if result == MDB_NOTFOUND { return nil }
        try lmdb(result)
        return LMDBPlace(
          key: key.mv_data.loadUnaligned(as: UInt.self), id: value.mv_data.loadUnaligned(as: Int.self))
      }
    }
  }

  private func withValue<Result>(of key: UInt, _ body: (inout MDB_val) throws -> Result) rethrows -> Result {
    var key = key
    return try withUnsafeMutableBytes(of: &key) {
      var value = MDB_val(mv_size: $0.count, mv_data: $0.baseAddress)
      return try body(&value)
    }
  }

  /// A record as LMDB has it: the position, the numbers, the length of the title, the title, the note.
  extension Entry {
    fileprivate func packed(at position: Double) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(37 + title.utf8.count + note.utf8.count)
      for number in [position, price, due.timeIntervalSince1970] {
        withUnsafeBytes(of: number) { bytes += $0 }
      }
      withUnsafeBytes(of: amount) { bytes += $0 }
      bytes.append(isDone ? 1 : 0)
      withUnsafeBytes(of: UInt32(title.utf8.count)) { bytes += $0 }
      bytes += title.utf8
      bytes += note.utf8
      return bytes
    }

    fileprivate init(packed bytes: UnsafeRawBufferPointer) {
      func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
      }
      let note = 37 + Int(bytes.loadUnaligned(fromByteOffset: 33, as: UInt32.self))
      self.init(
        title: text(bytes[37..<note]), note: text(bytes[note...]),
        amount: bytes.loadUnaligned(fromByteOffset: 24, as: Int.self),
        price: bytes.loadUnaligned(fromByteOffset: 8, as: Double.self),
        due: Date(timeIntervalSince1970: bytes.loadUnaligned(fromByteOffset: 16, as: Double.self)),
        isDone: bytes[32] != 0)
    }

    fileprivate static func position(packed bytes: UnsafeRawBufferPointer) -> Double {
      bytes.loadUnaligned(as: Double.self)
    }
  }
#endif
