import FileDB
import FileDBPlist
import FileDBStorage

/// Another program that changes a table's file, by itself.
package struct Editor {
  /// What it does for power cuts.
  package enum Care: Sendable {
    /// Not only the file, but its name too.
    case syncsAll
    case syncsFile, syncsNothing
  }

  let store: RecordStore
  let care: Care

  /// Adds a record at the bottom, under the next id.
  func addRecord(to table: String) throws {
    try edit(table) { data, counter in
      counter += 1_000
      data.append(.dict(["n": "by hand", "wgFileDbSecretId": .string("\(counter)")]))
    }
  }

  func changeFirstRecord(of table: String) throws {
    try edit(table) { data, _ in
      guard let id = data.first?.dict?["wgFileDbSecretId"] else { return }
      data[0] = .dict(["n": "changed by hand", "wgFileDbSecretId": id])
    }
  }

  /// Saves the file after a change of its records and its counter.
  private func edit(_ table: String, _ change: (inout [PlistValue], inout Int) -> Void) throws {
    let path = try store.url(of: table).path
    guard let disk = try store.disk as? RecordingDisk,
      var root = try PlistParser.parse(disk.base.read(path).bytes).dict, var data = root["data"]?.array
    else { throw BrokenInvariant(description: "\(path) is no table") }
    var counter = data.compactMap { $0.dict?["wgFileDbSecretId"]?.string.flatMap(Int.init) }.max() ?? 0
    change(&data, &counter)
    root["data"] = .array(data)
    root["autoincrement"] = .string("\(counter)")
    var indexMap = PlistDictionary()
    for (index, record) in data.enumerated() {
      if let id = record.dict?["wgFileDbSecretId"]?.string { indexMap[id] = .string("\(index)") }
    }
    root["index"] = .dict(indexMap)
    try disk.save(PlistWriter.document(.dict(root)), to: path, by: care)
  }
}
