// swift-tools-version: 6.3
import PackageDescription

func fuzzer(_ name: String, _ products: [String]) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["FuzzSupport"] + products.map { .product(name: $0, package: "FileDB") })
}

// A package of its own, so that who uses FileDB never resolves it. FileDBBrowse is a library only if FILEDB_FUZZ is set,
// as `run` does.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FileDB", path: "../..")],
  targets: [
    .systemLibrary(name: "CLibFuzzer"),
    .target(
      name: "FuzzSupport",
      dependencies: ["CLibFuzzer", .product(name: "FileDB", package: "FileDB")]),
    fuzzer("FuzzPlist", ["FileDB"]),
    fuzzer("FuzzCanonical", ["FileDB"]),
    fuzzer("FuzzDelimited", ["FileDB", "FileDBExchange"]),
    fuzzer("FuzzTable", ["FileDB"]),
    fuzzer("FuzzJournal", ["FileDB"]),
    fuzzer("FuzzFrame", ["FileDB"]),
    fuzzer("FuzzOffsets", ["FileDB"]),
    fuzzer("FuzzLookup", ["FileDB"]),
    fuzzer("FuzzUndo", ["FileDB"]),
    fuzzer("FuzzConflicts", ["FileDB"]),
    fuzzer("FuzzNotes", ["FileDB", "FileDBCluster"]),
    fuzzer("FuzzMerge", ["FileDB"]),
    fuzzer("FuzzJSON", ["FileDB", "FileDBExchange"]),
    fuzzer("FuzzBinary", ["FileDB", "FileDBExchange"]),
    fuzzer("FuzzPredicate", ["FileDB"]),
    fuzzer("FuzzSchema", ["FileDB", "FileDBExchange"]),
    fuzzer("FuzzHTTP", ["FileDB", "FileDBBrowse"]),
    fuzzer("FuzzPostgres", ["FileDB", "FileDBCluster"]),
    fuzzer("FuzzEtcd", ["FileDB", "FileDBCluster"]),
  ],
  swiftLanguageModes: [.v6]
)
