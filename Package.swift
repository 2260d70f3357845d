// swift-tools-version: 6.3
import PackageDescription

// Warnings stop our own builds; a user's newer compiler may warn without stopping theirs.
let strict: [SwiftSetting] =
  Context.environment["FILEDB_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

// The tests bring these modules into hundreds of thousands of states. Tests/swift has them optimized, and nothing else:
// so building and testing together take least. The driver would prefer the -Onone for everything else.
let optimized: [SwiftSetting] =
  Context.environment["FILEDB_TESTS"] == nil
  ? [] : [.unsafeFlags(["-Xfrontend", "-O", "-num-threads", "2"])]

func module(
  _ name: String, _ dependencies: [Target.Dependency], settings: [SwiftSetting] = strict
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func core(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  module(name, dependencies, settings: strict + optimized)
}

// What Sources/FileDBProgram/build links `filedb` with, so that it needs nothing of the system. `filedb-extra` cannot be
// like that, because it loads libraries; see Decisions/027.
let wholeProgram: [LinkerSetting] =
  Context.environment["FILEDB_STATIC_LIBRARIES"].map { libraries in
    let words = ["-static-executable", "-use-ld=lld"]
    return [.unsafeFlags(libraries.split(separator: " ").reduce(words) { $0 + ["-Xlinker", String($1)] })]
  } ?? []

func program(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], linking: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict, linkerSettings: linking)
}

func nio(_ product: String) -> Target.Dependency {
  .product(name: product, package: "swift-nio", condition: .when(traits: ["Command"]))
}

// Tests/Fuzz is a package of its own, and also feeds what is no library of ours.
let fuzzed: [Product] =
  Context.environment["FILEDB_FUZZ"] == nil
  ? [] : [.library(name: "FileDBBrowse", targets: ["FileDBBrowse"])]

func example(_ name: String, data: [String] = []) -> Target {
  .executableTarget(
    name: name, dependencies: ["FileDB", "FileDBLanguage"], path: "Examples/\(name)", exclude: data,
    swiftSettings: strict)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)", exclude: exclude,
    resources: resources,
    swiftSettings: strict)
}

let package = Package(
  name: "FileDB",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // FileDB finds FileDBLanguage when a program first needs it; see Decisions/027.
    .library(name: "FileDB", targets: ["FileDB", "FileDBLanguage"]),
    .library(name: "FileDBSwiftUI", targets: ["FileDBSwiftUI"]),
    .library(name: "FileDBExchange", targets: ["FileDBExchange"]),
    .library(name: "FileDBSQLite", targets: ["FileDBSQLite"]),
    .library(name: "FileDBCluster", targets: ["FileDBCluster"]),
    .library(name: "FileDBLegacy", targets: ["FileDBLegacy"]),
    .executable(name: "filedb", targets: ["FileDBProgram"]),
    .executable(name: "filedb-extra", targets: ["FileDBExtra"]),
  ] + fuzzed,
  // An app turns it off. There is only one: SwiftPM passes the names of several in an order that differs from run to run,
  // and so would compile everything again. See Decisions/024.
  traits: [
    .trait(
      name: "Command", description: "The programs, which need other packages."),
    .default(enabledTraits: ["Command"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibXML2", pkgConfig: "libxml-2.0",
      providers: [.apt(["libxml2-dev"]), .yum(["libxml2-devel"])]),
    // With pkg-config, SwiftPM would tell every app that uses FileDB to install SQLite's headers.
    .systemLibrary(name: "CFileDBSQLite"),
    module("FileDBEssentials", []),
    .target(
      name: "FileDBPlist",
      dependencies: [
        "FileDBEssentials", "CFileDB", .target(name: "CLibXML2", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: strict + optimized,
      // In Apple's SDKs, the module libxml2 does not link the library.
      linkerSettings: [
        .linkedLibrary(
          "xml2", .when(platforms: [.macOS, .macCatalyst, .iOS, .tvOS, .watchOS, .visionOS]))
      ]),
    .target(name: "CFileDB"),
    core("FileDBStorage", ["FileDBEssentials", "CFileDB"]),
    core("FileDBTables", ["FileDBEssentials", "FileDBPlist"]),
    core("FileDB", ["FileDBEssentials", "FileDBTables", "FileDBStorage"]),
    module("FileDBLanguage", ["FileDB"]),
    // A program that has no windows must not load SwiftUI.
    module("FileDBSwiftUI", ["FileDB"]),
    module("FileDBExchange", ["FileDBEssentials", "FileDB", "FileDBStorage"]),
    module("FileDBSQLite", ["FileDB", "FileDBExchange", "CFileDBSQLite"]),
    // What Swift cannot call in libcurl.
    .systemLibrary(name: "CFileDBCurl"),
    // libpq and libcurl are loaded when a program first connects; see Decisions/037 and 039.
    module("FileDBCluster", ["FileDBEssentials", "FileDB", "FileDBStorage", "FileDBTables", "CFileDBCurl"]),
    // The pages of `filedb browse`, as bytes; see Decisions/036.
    .target(name: "CFileDBPages"),
    // It sees the public API alone.
    .target(
      name: "FileDBBrowse",
      dependencies: [
        "FileDBEssentials", "FileDB", "FileDBExchange", "CFileDBPages",
        nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
      ],
      exclude: ["Pages"], packageAccess: false, swiftSettings: strict),
    module("FileDBLegacy", ["FileDB", "FileDBExchange", "FileDBStorage"]),
    module(
      "FileDBCommand",
      [
        "FileDBEssentials", "FileDB", "FileDBExchange",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
      ]),
    program(
      "FileDBProgram", ["FileDBCommand"], exclude: ["build", "install", "debian", "picture", "filedb.svg"],
      linking: wholeProgram),
    program(
      "FileDBExtra",
      ["FileDBCommand", "FileDBLanguage", "FileDBSQLite", "FileDBBrowse", "FileDBCluster"]),

    example("SharedTransaction"),
    example("TodoList"),
    example("Levels"),
    example("FoodDiary", data: ["build.filedb", "foods.txt", "groups.txt"]),
    example("Upgrade"),
    example("Outliner"),
    example("Contacts"),
    example("JobServer"),

    // The process that the tests kill. It sees the public API alone, so that it proves what a user can rely on.
    .executableTarget(
      name: "StoreWorker", dependencies: ["FileDB"], path: "Tests/StoreWorker", packageAccess: false,
      swiftSettings: strict),

    // One of several processes that share a store, each with a folder of its own.
    .executableTarget(
      name: "SharedWorker", dependencies: ["FileDB", "FileDBCluster"],
      path: "Tests/SharedWorker",
      packageAccess: false, swiftSettings: strict),

    // Prints how long the verbs of a table take that no machine holds; see Tests/Cluster/paged.
    .executableTarget(
      name: "PagedTimes", dependencies: ["FileDB", "FileDBCluster"], path: "Tests/Cluster/PagedTimes",
      packageAccess: false, swiftSettings: strict),

    // Prints how long a shared store takes beside its bare engine; see Tests/Cluster/figures.
    .executableTarget(
      name: "SharedTimes", dependencies: ["FileDB", "FileDBCluster", "TestSupport"],
      path: "Tests/Cluster/SharedTimes", swiftSettings: strict),

    // Tries a million states of the disk after a power cut; the tests try some thousands of them.
    .executableTarget(
      name: "CrashStates", dependencies: ["FileDBStorage", "TestSupport"], path: "Tests/CrashStates",
      swiftSettings: strict),

    .target(
      name: "TestSupport",
      dependencies: ["FileDB", "FileDBCluster", "FileDBLanguage", "FileDBStorage"],
      path: "Tests/Support",
      swiftSettings: strict + optimized),
    tests("FileDBPlistTests", ["FileDBPlist"], resources: [.copy("Corner")]),
    tests("FileDBStorageTests", ["FileDBStorage"]),
    // Its store of format 2 is read by path.
    tests("FileDBTests", ["FileDB"], exclude: ["Engine/Format2"]),
    tests("FileDBModelTests", ["FileDB", "FileDBCluster"]),
    tests("FileDBCrashTests", ["FileDB"]),
    tests("FileDBExchangeTests", ["FileDBExchange"]),
    tests("FileDBSQLiteTests", ["FileDBSQLite", "CFileDBSQLite"]),
    tests("FileDBClusterTests", ["FileDBCluster", "SharedWorker"]),
    tests("FileDBBrowseTests", ["FileDBBrowse", nio("NIOEmbedded")]),
    tests("FileDBLegacyTests", ["FileDBLegacy"]),
    tests("FileDBProcessTests", ["FileDB", "StoreWorker"]),
    tests(
      "FileDBCommandTests",
      [
        "FileDBCommand", "FileDBProgram", "FileDBExtra", "FileDB", "FileDBCluster", "SharedTransaction",
        "TodoList", "Levels",
        "FoodDiary",
        "Upgrade",
        "Outliner",
        "Contacts", "JobServer",
      ]),
  ],
  swiftLanguageModes: [.v6]
)
