// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FileDB", path: "../..")],
  targets: [
    .target(name: "FuzzDriver"),
    .executableTarget(
      name: "FuzzPlist", dependencies: ["FuzzDriver", .product(name: "FileDB", package: "FileDB")]),
    .executableTarget(
      name: "FuzzDelimited",
      dependencies: ["FuzzDriver", .product(name: "FileDBExchange", package: "FileDB")]),
  ],
  swiftLanguageModes: [.v6]
)
