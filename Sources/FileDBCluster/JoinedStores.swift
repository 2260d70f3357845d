import FileDB
import FileDBEssentials

/// The addresses of the shared stores that this user has joined on this machine, each in a file of its own.
///
/// The folder of a store may come from a stranger. So `.filedb/shared` only says which store it is, and where to
/// connect is known here.
package struct JoinedStores {
  private let folder: URL

  package init() { folder = UserState.folder.appendingPathComponent("joined", isDirectory: true) }

  /// - Returns: a ``SharedAddress`` without a password; `nil` if the user has not joined the store.
  package func address(of identity: String) -> String? {
    guard let file = try? file(of: identity), let text = try? String(contentsOf: file, encoding: .utf8) else {
      return nil
    }
    return text.cut(at: "\n")?.before
  }

  /// - Throws: ``StoreError/Code/inputOutput``.
  package func add(_ address: String, of identity: String) throws {
    if self.address(of: identity) == address { return }
    let file = try file(of: identity)
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Data("\(address)\n".utf8).write(to: file, options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    } catch {
      throw StoreError(.inputOutput, "the address cannot be kept: \(error)", file: file.path)
    }
  }

  /// A stranger may have written the identity.
  private func file(of identity: String) throws(StoreError) -> URL {
    let isPlain = identity.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard isPlain, (1...100).contains(identity.utf8.count) else {
      throw StoreError(.unreachable, "the identity of the shared store is not one")
    }
    return folder.appendingPathComponent(identity)
  }
}
