import FileDBStorage
import Foundation
import Testing

/// What is in a folder called `.filedb` is reached without following a link: a store may come from a stranger.
@Suite struct OwnFolderTests {
  let disk = SystemDisk()

  /// Where the link is that leads out of the store.
  enum Link: CaseIterable {
    case own, folder, file
  }

  @Test(arguments: Link.allCases) func linksAreNotFollowed(link: Link) throws {
    try withScratchFolder { folder in
      let (outside, own) = ("\(folder)/outside", "\(folder)/store/.filedb")
      for path in [outside, "\(outside)/sub", "\(folder)/store"] { try disk.createFolder(path) }
      for path in ["\(outside)/file", "\(outside)/sub/file"] { try disk.put("kept", at: path) }
      let path: String
      switch link {
      case .own:
        try #require(symlink(outside, own) == 0)
        path = "\(own)/file"
      case .folder:
        try disk.createFolder(own)
        try #require(symlink("\(outside)/sub", "\(own)/backups") == 0)
        path = "\(own)/backups/file"
      case .file:
        try disk.createFolder(own)
        try #require(symlink("\(outside)/file", "\(own)/file") == 0)
        path = "\(own)/file"
      }
      let verbs: [() throws -> Void] = [
        { _ = try disk.read(path) }, { _ = try disk.readPrefix(path, count: 1) }, { _ = try disk.open(path) },
        { _ = try disk.list(link == .file ? path : parentFolder(of: path)) },
        { _ = try disk.lock(path, timeout: .zero) },
        { try disk.syncFolder(link == .file ? path : parentFolder(of: path)) },
      ]
      for verb in verbs { #expect([.linkLoop, .notFound].contains(kind(verb))) }
      if link != .file {
        let changes: [() throws -> Void] = [
          { try disk.remove(path) }, { try disk.rename(path, to: "\(folder)/store/stolen") },
          { try disk.rename("\(outside)/file", to: path) },
          { try disk.exchange(path, with: "\(outside)/file") },
          { try disk.rename(path, toFree: "\(path)2") }, { _ = try disk.create("\(path)3", as: .usual) },
          { try disk.makeFolder("\(path)4") }, { _ = try disk.replace(path, with: Array("new".utf8)) },
        ]
        for change in changes { #expect(kind(change) == .linkLoop) }
      } else {
        #expect(try disk.status(path)?.kind == .other)
        #expect(try disk.resolve(path) == path)
      }
      for path in ["\(outside)/file", "\(outside)/sub/file"] { #expect(try disk.text(path) == "kept") }
      #expect(try Set(disk.list(outside)) == ["file", "sub"])
      #expect(try disk.list("\(outside)/sub") == ["file"])
    }
  }

  /// The commits of a shared store are in a store of their own, inside a folder's.
  @Test(arguments: ["replica", "replica/.filedb", "replica/.filedb/shown", "conflicts"])
  func storeInTheOwnFolderIsReachedWithoutLinks(name: String) throws {
    try withScratchFolder { folder in
      let (outside, link) = ("\(folder)/outside", "\(folder)/store/.filedb/\(name)")
      for path in [outside, "\(outside)/.filedb", "\(outside)/.filedb/shown", "\(folder)/store"] {
        try disk.createFolder(path)
      }
      var parent = "\(folder)/store/.filedb"
      for part in name.split(separator: "/") {
        try disk.createFolder(parent)
        parent += "/\(part)"
      }
      for path in [outside, "\(outside)/.filedb", "\(outside)/.filedb/shown"] {
        try disk.put("kept", at: "\(path)/t.plist")
      }
      try #require(symlink(outside, link) == 0)
      let below = name == "replica" ? ["t.plist", ".filedb/t.plist", ".filedb/shown/t.plist"] : ["t.plist"]
      for path in below.map({ "\(link)/\($0)" }) {
        #expect(kind { _ = try disk.read(path) } == .linkLoop, "\(path)")
        #expect(kind { _ = try disk.replace(path, with: Array("new".utf8)) } == .linkLoop, "\(path)")
      }
      #expect(try disk.text("\(outside)/t.plist") == "kept")
    }
  }

  /// A link there is nobody's file: it may be replaced and removed, what it leads to may not.
  @Test func linkItselfIsReplacedAndRemoved() throws {
    try withScratchFolder { folder in
      let own = "\(folder)/.filedb"
      try disk.createFolder(own)
      try disk.put("kept", at: "\(folder)/file")
      try #require(symlink("\(folder)/file", "\(own)/link") == 0)
      try disk.put("new", at: "\(own)/new")
      try disk.rename("\(own)/new", to: "\(own)/link")
      #expect(try disk.text("\(own)/link") == "new")
      #expect(try disk.text("\(folder)/file") == "kept")
    }
  }

  /// A folder of that name may be above a store, and have links in it as any other.
  @Test func folderBelowOneOfThatNameMayHaveLinks() throws {
    try withScratchFolder { folder in
      let store = "\(folder)/.filedb/notes"
      try disk.createFolder("\(store)/.filedb")
      try disk.put("text", at: "\(folder)/file")
      for link in ["\(store)/t.plist", "\(store)/.filedb/journal"] {
        try #require(symlink("\(folder)/file", link) == 0)
      }
      #expect(try disk.text("\(store)/t.plist") == "text")
      #expect(try disk.resolve("\(store)/t.plist") == "\(folder)/file")
      #expect(kind { _ = try disk.read("\(store)/.filedb/journal") } == .linkLoop)
    }
  }

  @Test func newFilesHaveTheModeOfTheFolder() throws {
    try withScratchFolder { folder in
      let own = "\(folder)/.filedb"
      try disk.createFolder(own)
      for mode: UInt32 in [0o700, 0o750, 0o770, 0o775] {
        try disk.setMode(own, mode)
        try disk.put("", at: "\(own)/file")
        _ = try disk.replace("\(own)/replaced-\(mode)", with: [])
        do { _ = try disk.lock("\(own)/lock-\(mode)", timeout: .zero) }
        try disk.createFolder("\(own)/sub-\(mode)")
        for name in ["file", "replaced-\(mode)", "lock-\(mode)"] {
          #expect(try disk.status("\(own)/\(name)")?.mode == mode & 0o666, "\(name)")
        }
        #expect(try disk.status("\(own)/sub-\(mode)")?.mode == mode)
      }
    }
  }

  /// A file can claim to be longer than all memory, without needing any room.
  @Test(arguments: OwnName.allCases) func fileThatClaimsToBeHugeIsNotRead(name: OwnName) throws {
    try withScratchFolder { folder in
      let path = "\(folder)/.filedb/\(name.rawValue)" + (name.isFolder ? "/file" : "")
      try disk.createFolder(parentFolder(of: path))
      try disk.put("", at: path)
      for length in [name.longestFile + 1, 1 << 40] {
        try #require(truncate(path, off_t(length)) == 0)
        for verb in [{ _ = try disk.read(path) }, { _ = try disk.open(path).read(at: 0, count: length) }]
          as [() throws -> Void]
        {
          let error = #expect(throws: DiskError.self) { try verb() }
          #expect(error?.errno == EFBIG && error?.kind == .other)
        }
      }
      #expect(try disk.readPrefix(path, count: 3) == [0, 0, 0])
      #expect(try disk.open(path).read(at: 1 << 39, count: 3) == [0, 0, 0])
    }
  }

  @Test func tableThatClaimsToBeHugeIsNotRead() throws {
    try withScratchFolder { folder in
      let path = "\(folder)/t.plist"
      try disk.put("", at: path)
      try #require(truncate(path, 1 << 40) == 0)
      #expect(throws: DiskError("read", path, errno: EFBIG)) { try disk.read(path) }
    }
  }
}
