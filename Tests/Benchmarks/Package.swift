// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that who uses FileDB never resolves what it is compared with.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "FileDB", path: "../..")],
  targets: [
    .systemLibrary(name: "CLibXML2Peer", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .executableTarget(
      name: "Benchmarks", dependencies: [.product(name: "FileDB", package: "FileDB"), "CLibXML2Peer"]),
  ],
  swiftLanguageModes: [.v6]
)
