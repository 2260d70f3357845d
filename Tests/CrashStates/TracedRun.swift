import FileDBStorage
import TestSupport

/// Runs the workloads on a real disk, and says what the recording disk saw of them: for a comparison with the calls that
/// the system saw.
enum TracedRun {
  static func run(in folder: String) throws {
    for (number, workload) in CrashWorkload.traced.enumerated() {
      let home = "\(folder)/\(number)"
      let disk = RecordingDisk(over: SystemDisk(), holding: DiskImage(), storeFolder: "\(home)/store")
      for folder in ["", "/store"] { try disk.createFolder(home + folder) }
      for (path, bytes) in workload.before.files.sorted(by: { $0.key < $1.key }) {
        _ = try disk.replace("\(home)/store/\(fileName(of: path))", with: bytes)
      }
      _ = try workload.run(on: disk, at: "\(home)/store")
      printEvents(disk.events)
    }
  }

  private static func printEvents(_ events: [DiskEvent]) {
    var paths: [Int: String] = [:]
    for event in events {
      switch event {
      case .makeFolder(let path): print("mkdir \(path)")
      case .create(let file, let path):
        paths[file] = path
        print("create \(path)")
      case .write(let file, let offset, let bytes): print("write \(paths[file]!) \(offset) \(bytes.count)")
      case .sync(let file), .failedSync(let file): print("sync \(paths[file]!)")
      case .rename(let file, let old, let new):
        paths[file] = new
        print("rename \(old) \(new)")
      case .remove(_, let path): print("remove \(path)")
      case .syncFolder(let path): print("syncFolder \(path)")
      case .issued, .acknowledged: break
      }
    }
  }
}
