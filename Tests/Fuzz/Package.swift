// swift-tools-version: 6.3
import PackageDescription

func fuzzer(_ name: String, _ products: [String]) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["FuzzSupport"] + products.map { .product(name: $0, package: "FileDB") })
}

// A package of its own, so that who uses FileDB never resolves it.
let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FileDB", path: "../..", traits: [])],
  targets: [
    .systemLibrary(name: "CLibFuzzer"),
    .target(name: "FuzzSupport", dependencies: ["CLibFuzzer"]),
    fuzzer("FuzzPlist", ["FileDB"]),
    fuzzer("FuzzCanonical", ["FileDB"]),
    fuzzer("FuzzDelimited", ["FileDB", "FileDBExchange"]),
    fuzzer("FuzzTable", ["FileDB"]),
    fuzzer("FuzzJournal", ["FileDB"]),
    fuzzer("FuzzFrame", ["FileDB"]),
    fuzzer("FuzzOffsets", ["FileDB"]),
    fuzzer("FuzzLookup", ["FileDB"]),
  ],
  swiftLanguageModes: [.v6]
)
