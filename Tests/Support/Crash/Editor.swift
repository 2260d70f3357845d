import FileDB
import FileDBPlist
import FileDBStorage

/// Another program that changes a table's file, by itself.
package struct Editor {
  /// What it does for power cuts. None syncs the name of the file.
  package enum Care: Sendable { case syncsFile, syncsNothing }

  let store: RecordStore
  let care: Care

  /// Adds a record at the bottom, under the next id.
  func addRecord(to table: String) throws {
    let path = try store.url(of: table).path
    guard let disk = try store.disk as? RecordingDisk,
      var root = try PlistParser.parse(disk.base.read(path).bytes).dict, var data = root["data"]?.array
    else { throw BrokenInvariant(description: "\(path) is no table") }
    let ids = data.compactMap { $0.dict?["wgFileDbSecretId"]?.string.flatMap(Int.init) }
    let next = (ids.max() ?? 0) + 1_000
    data.append(.dict(["n": "by hand", "wgFileDbSecretId": .string("\(next)")]))
    root["data"] = .array(data)
    root["autoincrement"] = .string("\(next)")
    var indexMap = PlistDictionary()
    for (index, record) in data.enumerated() {
      if let id = record.dict?["wgFileDbSecretId"]?.string { indexMap[id] = .string("\(index)") }
    }
    root["index"] = .dict(indexMap)
    try disk.save(PlistWriter.document(.dict(root)), to: path, by: care)
  }
}
