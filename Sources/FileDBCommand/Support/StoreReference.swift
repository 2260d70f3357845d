import ArgumentParser
import FileDB
import FileDBEssentials

/// A store, as a command line names it.
enum StoreReference: Equatable {
  case folder(URL)
  /// An address such as `postgres://db/app?store=notes` or `etcd://m1,m2/app?store=notes`. It may contain a password.
  case address(String)

  /// - Throws: `ValidationError` for an empty text, which a script makes of a variable that is not set. For a system, it
  ///   would be the current folder.
  init(_ text: String) throws {
    if text.isEmpty { throw ValidationError("The name of the store is empty.") }
    self = Self.isAddress(text) ? .address(text) : .folder(URL(fileURLWithPath: text, isDirectory: true))
  }

  static func isAddress(_ text: String) -> Bool {
    ["postgres://", "postgresql://", "etcd://", "etcds://"].contains { text.hasPrefix($0) }
  }

  /// Whether several machines share the store, so that only `filedb-extra` can open it.
  var isShared: Bool {
    switch self {
    case .address: true
    case .folder(let url): RecordStore.isFolderOfSharedStore(url)
    }
  }

  /// Opens the store, which may not be there yet.
  func open(for use: StoreUse) throws -> RecordStore {
    switch self {
    case .address(let address): try FileDBTool.needExtra().openStore(at: address, options: use.options)
    case .folder(let url) where isShared: try openReplica(url, for: use)
    case .folder(let url): try RecordStore(at: url, options: use.options)
    }
  }

  private func openReplica(_ folder: URL, for use: StoreUse) throws -> RecordStore {
    let extra = try FileDBTool.needExtra()
    let store = try extra.openReplica(folder, for: use)
    if use == .writing {
      defer { Terminal.noteSettled(in: store, extra) }
      try extra.catchUpToWrite(store)
    }
    return store
  }

  /// Whether it leads to an open store.
  func leads(to store: RecordStore) -> Bool {
    if case .folder(let url) = self {
      url.standardizedFileURL.path == store.url.standardizedFileURL.path
    } else {
      false
    }
  }
}

/// How long a command keeps a store open.
package enum StoreUse: Sendable {
  /// For a single operation.
  case once
  /// For a single operation that writes. So what it reads first is the newest, also where other machines write.
  case writing
  /// Until it is told to stop. Meanwhile, an editor may write into the files.
  case untilEnd

  /// How long commands wait for other writers, if they are told.
  @TaskLocal static var wait: Duration?
  /// How long they wait for a server while nothing moves.
  @TaskLocal package static var timeout = Duration.seconds(5)

  package var options: StoreOptions {
    var options = self == .untilEnd ? StoreOptions() : .ofCommands
    if let wait = Self.wait { options.lockTimeout = wait }
    return options
  }
}
