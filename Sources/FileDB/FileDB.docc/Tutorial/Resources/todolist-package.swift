// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "TodoList",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The URL from which you cloned FileDB.
    .package(url: "URL", branch: "main", traits: [])
  ],
  targets: [
    .executableTarget(name: "TodoList", dependencies: [.product(name: "FileDB", package: "FileDB")])
  ]
)
