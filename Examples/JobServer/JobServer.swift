import FileDB
import Foundation

// A server whose jobs are records. Hundreds of tasks do them, and so does a second process, which runs the same
// program. Some tasks are cancelled while they wait for their turn. Each job is done exactly once:
//
//     JobServer NEWFOLDER

/// A job that nobody has done yet.
struct Job: Codable, Sendable {
  var number: Int
}

/// The result of a job.
struct JobResult: Codable, Sendable {
  var number: Int
  var square: Int
  /// The process that did the job.
  var process: Int32
}

extension TableName<Job> { static var jobs: Self { "jobs" } }
extension TableName<JobResult> { static var results: Self { "results" } }

@main
struct JobServer {
  private static let jobs = 1...1_000
  private static let tasks = 1...300

  private let store: RecordStore

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let folder = arguments.first, [[], ["worker"]].contains(arguments.dropFirst()) else {
      FileHandle.standardError.write(Data("usage: JobServer NEWFOLDER [worker]\n".utf8))
      exit(64)
    }
    let server = JobServer(store: try await RecordStore.open(at: URL(fileURLWithPath: folder)))
    if arguments.count == 1 { try await server.serve(in: folder) } else { try await server.help() }
    try await server.store.close()
  }

  private func serve(in folder: String) async throws {
    try await store.table(.jobs).add(contentsOf: Self.jobs.map(Job.init))
    try await runCancelledTasks()
    let helper = try Helper(in: folder)
    try await runTasks()
    guard helper.succeeds() else {
      print("the second process failed")
      exit(1)
    }
    try report()
  }

  /// Does the first job that is left. One transaction deletes the job and adds its result, so no job is done twice or
  /// lost.
  /// - Returns: `false` if no job is left.
  private func doNextJob() async throws -> Bool {
    try await store.write { tx in
      guard let job = try tx[.jobs].snapshot().first else { return false }
      let number = try job.value.number
      let process = ProcessInfo.processInfo.processIdentifier
      try tx[.results].add(JobResult(number: number, square: number * number, process: process))
      try tx[.jobs].delete(job.id)
      return true
    }
  }

  /// Lets each task do one job, and cancels the other tasks as soon as some have done theirs.
  private func runCancelledTasks() async throws {
    let done = try await withThrowingTaskGroup { group in
      for _ in Self.tasks {
        group.addTask {
          // A task that is cancelled before its turn writes nothing. One whose write has begun finishes it.
          do { return try await doNextJob() } catch is CancellationError { return false }
        }
      }
      var done = 0
      for try await isDone in group where isDone {
        done += 1
        if done == 10 { group.cancelAll() }
      }
      return done
    }
    let results = try await store.table(.results).lastSnapshot.count
    print("\(done) tasks did a job, \(Self.tasks.count - done) were cancelled: \(results) results")
  }

  /// Lets each task do one job after another, until none is left.
  private func runTasks() async throws {
    try await withThrowingTaskGroup { group in
      for _ in Self.tasks { group.addTask { while try await doNextJob() {} } }
      try await group.waitForAll()
    }
  }

  /// What the second process does.
  private func help() async throws {
    _ = try await doNextJob()
    FileHandle.standardOutput.write(Data("at work\n".utf8))
    try await runTasks()
  }

  private func report() throws {
    let results = try store.table(.results).snapshot().values().get()
    let isComplete = results.map(\.number).sorted() == Array(Self.jobs)
    let verdict = isComplete ? "each done once" : "but not each done once"
    print("\(results.count) jobs, \(verdict), by \(Set(results.map(\.process)).count) processes")
  }
}

/// A second process, on the same store.
private struct Helper {
  private let process = Process()

  /// Returns when the process has done its first job, or has failed.
  init(in folder: String) throws {
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments = [folder, "worker"]
    process.standardOutput = output
    try process.run()
    _ = output.fileHandleForReading.availableData
  }

  /// Waits until the process ends.
  func succeeds() -> Bool {
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
