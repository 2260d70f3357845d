import Foundation

/// The Swift compiler, with the modules that were built for the tests.
package enum Compiler {
  /// Beside the test bundle.
  private static let build = URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0])
    .resolvingSymlinksInPath().deletingLastPathComponent()

  package static let isAvailable =
    FileManager.default.fileExists(atPath: build.appendingPathComponent("Modules/FileDB.swiftmodule").path)
    && (try? run(["swiftc", "--version"], in: build).status) == 0

  private static let modulesOfC = [
    "CFileDB", "CLibXML2", "CFileDBSQLite", "CFileDBCurl", "CNIOAtomics", "CNIOLLHTTP", "CNIOLinux",
    "CNIOPosix", "CNIOWASI",
    "CNIOFreeBSD", "CNIOOpenBSD", "CNIOWindows", "CNIODarwin", "_AtomicsShims",
  ]

  /// Runs `swiftc` in the language mode of the package.
  package static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    try run(["swiftc"], arguments)
  }

  /// Type-checks the bodies in `files`, which may name what `others` declare, and no more of the module.
  package static func typeCheck(
    _ files: [String], with others: [String], module: String, package: String
  ) throws -> (status: Int32, output: String) {
    let names = ["-typecheck", "-module-name", module, "-package-name", package]
    return try run(
      ["swiftc", "-frontend", "-plugin-path", macros()],
      names + files.flatMap { ["-primary-file", $0] } + others)
  }

  private struct TargetInfo: Decodable {
    struct Paths: Decodable { let runtimeResourcePath: String }
    let paths: Paths
  }

  /// The folder of Swift's own macros. The driver knows it; its frontend has to be told.
  private static func macros() throws -> String {
    let info = try run(["swiftc", "-print-target-info"], in: build).output
    let paths = try JSONDecoder().decode(TargetInfo.self, from: Data(info.utf8)).paths
    return "\(paths.runtimeResourcePath)/host/plugins"
  }

  private static func run(
    _ program: [String], _ arguments: [String]
  ) throws -> (status: Int32, output: String) {
    try withTemporaryFolder { folder in
      // The modules ask for those of C by name; nothing here needs what is in them, nor their headers.
      let modules = folder.appendingPathComponent("module.modulemap")
      let declared = modulesOfC.map { "module \($0) {}\n" }.joined()
      try Data(declared.utf8).write(to: modules)
      let shared = [
        "-swift-version", "6", "-I", build.appendingPathComponent("Modules").path, "-Xcc",
        "-fmodule-map-file=\(modules.path)",
        "-module-cache-path", build.appendingPathComponent("SnippetModules").path,
      ]
      return try run(program + arguments + shared, in: folder)
    }
  }

  private static func run(_ command: [String], in folder: URL) throws -> (status: Int32, output: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.start()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}
