import Foundation

#if canImport(CLMDB)
  import CLMDB

  /// LMDB by its C interface, as durable as FileDB, with the values in a binary form of the peer's own.
  final class LMDBPeer: Peer {
    static let name = "LMDB"

    private let sample: Sample
    private lazy var edited = Result {
      try EditedTable(LMDBEditor(LMDBTable(makeTable(in: "LMDB"))), records: sample.records)
    }
    private lazy var unsynced = Result {
      try EditedTable(
        LMDBEditor(LMDBTable(makeTable(in: "LMDB-unsynced"), flags: MDB_NOSYNC)), records: sample.records)
    }

    init(_ sample: Sample) { self.sample = sample }

    func prepare(_ workload: Workload) throws -> Run? {
      switch workload {
      case .open: try opening()
      case .rows: try readingRows()
      case .record: try readingRecords()
      case .edit, .writers: try edited.get().prepare(workload)
      case .processorTime: try unsynced.get().prepare(workload)
      default: nil
      }
    }

    /// Makes a table of the sample's rows. A process must not open the same one twice, so each use has its own.
    private func makeTable(in scratch: String) throws -> URL {
      let folder = try sample.scratch(scratch)
      if FileManager.default.fileExists(atPath: folder.appendingPathComponent("data.mdb").path) {
        return folder
      }
      try LMDBTable(folder).write { transaction in
        for entry in sample.entries { _ = try transaction.perform(.add(entry, .bottom)) }
      }
      return folder
    }

    private func opening() throws -> Run {
      let folder = try makeTable(in: "LMDB-open")
      return { [sample] in
        try seconds(
          of: { try LMDBTable(folder).read { (try $0.count(), try $0.first()) } },
          check: { try sample.checkOpening($0.0, $0.1?.title) })
      }
    }

    private func readingRows() throws -> Run {
      let folder = try makeTable(in: "LMDB-open")
      return { [sample] in
        try seconds(of: { try LMDBTable(folder).read { try $0.entries() } }, check: sample.check)
      }
    }

    private func readingRecords() throws -> Run {
      let table = try LMDBTable(makeTable(in: "LMDB-records"))
      let reader = try table.reader()
      return { [sample] in
        try sample.readRecords { id in
          try reader.renew()
          return try reader.entry(id)?.amount
        }
      }
    }
  }

  private final class LMDBEditor: SharedEditor {
    private let table: LMDBTable

    init(_ table: LMDBTable) { self.table = table }

    func commit(_ edits: [Edit], _ log: EditLog) throws {
      try log.run(edits) { edit in try table.write { try $0.perform(edit) } }
    }

    func transact(_ edits: [Edit], _ log: EditLog) throws {
      try table.write { transaction in try log.run(edits) { try transaction.perform($0) } }
    }

    func count() throws -> Int { try table.read { try $0.count() } }
    func entry(_ id: Int) throws -> Entry? { try table.read { try $0.entry(id) } }
    func neighbours(of id: Int) throws -> (above: Int?, below: Int?) {
      try table.read { try $0.neighbours(of: id) }
    }
  }
#else
  /// LMDB if its header is missing.
  final class LMDBPeer: Peer {
    static let name = "LMDB"

    init(_ sample: Sample) {}

    func prepare(_ workload: Workload) throws -> Run? {
      guard workload == .record || workload == .rows || workload == .edit(.bottom, .commit) else {
        return nil
      }
      throw LeftOut("lmdb.h was not there when this was built")
    }
  }
#endif
