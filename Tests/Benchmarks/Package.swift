// swift-tools-version: 6.3
import PackageDescription

// A package of its own, so that who uses FileDB never resolves what it is compared with.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "FileDB", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CLibXML2Peer", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .target(name: "CSlowDisk"),
    .executableTarget(name: "Growth", dependencies: [.product(name: "FileDB", package: "FileDB")]),
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        .product(name: "FileDB", package: "FileDB"), .product(name: "FileDBExchange", package: "FileDB"),
        .product(name: "FileDBSQLite", package: "FileDB"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
        "CLibXML2Peer", "CLMDB", "CSlowDisk",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
