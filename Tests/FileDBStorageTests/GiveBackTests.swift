import FileDBStorage
import Synchronization
import TestSupport
import Testing

/// Other programs save a file while its replacement is taken back because of what they had saved before.
@Suite struct GiveBackTests {
  @Test(arguments: 0...3) func newestVersionHasTheName(saves: Int) throws {
    let base = MemoryDisk()
    try base.makeFolder("/folder")
    _ = try base.replace("/folder/file", with: Array("before".utf8))
    let staged = try base.stage(Array("ours".utf8), for: "/folder/file")
    _ = try base.replace("/folder/file", with: Array("save 0".utf8))
    let exchanges = Mutex(0)
    let disk = FaultyDisk(over: base) { _, verb in
      guard verb == .exchange else { return }
      let number = exchanges.withLock { exchanges in
        exchanges += 1
        return exchanges - 1
      }
      guard (1...3).contains(number), number <= saves else { return }
      _ = try? base.replace("/folder/file", with: Array("save \(number)".utf8))
    }
    let isInstalled = try disk.install(staged) { path throws(DiskError) in
      guard let path else { return false }
      return try base.read(path).bytes == Array("before".utf8)
    }
    #expect(!isInstalled)
    #expect(try base.read("/folder/file").bytes == Array("save \(saves)".utf8))
    let versions = base.image.files.values.map { String(decoding: $0, as: UTF8.self) }
    #expect(versions.contains("ours") == false && versions.count <= 2)
  }
}
