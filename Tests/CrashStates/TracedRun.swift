import FileDBStorage
import TestSupport

/// Runs the workloads on a real disk, and says what the recording disk saw of them: for a comparison with the calls
/// that the system saw.
enum TracedRun {
  static func run(in folder: String) throws {
    for (number, workload) in CrashWorkload.all.enumerated() {
      let home = "\(folder)/\(number)"
      let disk = RecordingDisk(over: SystemDisk(), holding: DiskImage(), storeFolder: "\(home)/store")
      for folder in ["", "/store"] { try disk.createFolder(home + folder) }
      for (path, bytes) in workload.before.files.sorted(by: { $0.key < $1.key }) {
        _ = try disk.replace("\(home)/store/\(fileName(of: path))", with: bytes)
      }
      _ = try workload.run(on: disk, at: "\(home)/store")
      for line in disk.events.lines where !line.hasPrefix("(") { print(line) }
    }
  }
}
