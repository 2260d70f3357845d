#if canImport(CLMDB)
  import CLMDB
  import Foundation

  /// The sample's rows in LMDB: the records by id, the ids by position, and the counter of the ids. The order of the
  /// rows is a number, as in GRDB's table, so that a row moves between two others without a change of any other row.
  ///
  /// Its threads may share an environment, and nothing else here changes.
  final class LMDBTable: @unchecked Sendable {
    private let environment: OpaquePointer?
    let records: MDB_dbi
    let order: MDB_dbi
    let counter: MDB_dbi

    /// - Parameter flags: of LMDB's own. Without any, each commit is on the disk when it returns.
    init(_ folder: URL, flags: Int32 = 0) throws {
      var environment: OpaquePointer?
      try lmdb(mdb_env_create(&environment))
      self.environment = environment
      try lmdb(mdb_env_set_maxdbs(environment, 3))
      // Addresses that are set aside; the file grows as it is filled.
      try lmdb(mdb_env_set_mapsize(environment, 16 << 30))
      try lmdb(mdb_env_open(environment, folder.path, UInt32(MDB_NOTLS | flags), 0o644))
      var transaction: OpaquePointer?
      try lmdb(mdb_txn_begin(environment, nil, 0, &transaction))
      func database(_ name: String) throws -> MDB_dbi {
        var database = MDB_dbi()
        try lmdb(mdb_dbi_open(transaction, name, UInt32(MDB_CREATE | MDB_INTEGERKEY), &database))
        return database
      }
      records = try database("records")
      order = try database("order")
      counter = try database("counter")
      try lmdb(mdb_txn_commit(transaction))
    }

    deinit { mdb_env_close(environment) }

    func write<Result>(_ body: (LMDBTransaction) throws -> Result) throws -> Result {
      let transaction = try LMDBTransaction(environment, self, flags: 0)
      let result = try body(transaction)
      try transaction.commit()
      return result
    }

    func read<Result>(_ body: (LMDBTransaction) throws -> Result) throws -> Result {
      try body(reader())
    }

    /// What reads the latest commit, and another one after each ``LMDBTransaction/renew()``.
    func reader() throws -> LMDBTransaction { try LMDBTransaction(environment, self, flags: MDB_RDONLY) }
  }

  /// - Throws: ``WrongResult`` with LMDB's own words.
  func lmdb(_ result: Int32) throws {
    try expect(result == MDB_SUCCESS, "LMDB: \(String(cString: mdb_strerror(result)))")
  }
#endif
