import ArgumentParser
import FileDB
import FileDBEssentials
import FileDBExchange

/// The program `filedb-extra`, in the same folder as this one.
enum ExtraProgram {
  static let name = "filedb-extra"

  /// Replaces this process by that program, with the same arguments, standard input and output.
  /// - Parameter input: what has already been read from standard input.
  /// - Throws: ``StoreError/Code/fileNotFound`` if it is missing.
  static func replaceThisOne(rereading input: [UInt8]? = nil) throws -> Never {
    let path = path
    if isThisOne { throw missing }
    if input == nil, InputFile.standardInputIsUsed {
      throw ValidationError(
        "To read standard input here, name the store with --store, and not by a table's path.")
    }
    StandardOutput.flush()
    if let input { try provide(input) }
    // Pass on the original bytes: that program reports words that are not text.
    execv(path, CommandLine.unsafeArgv)
    let failure = errno
    guard failure == ENOENT else {
      throw StoreError(.inputOutput, String(cString: strerror(failure)), file: path)
    }
    throw missing
  }

  static var missing: StoreError {
    let state =
      isThisOne ? "and here is filedb itself under that name; " : "which is missing; "
    return StoreError(
      .fileNotFound,
      "this needs the program \(name), \(state)'swift build -c release --product \(name)' makes it, "
        + "and it belongs beside filedb", file: path)
  }

  /// A copy of this program, or a link to it, with the other program's name would start itself for ever.
  private static var isThisOne: Bool {
    var (this, other) = (stat(), stat())
    guard stat(ThisProgram.path, &this) == 0, stat(path, &other) == 0 else { return false }
    return this.st_dev == other.st_dev && this.st_ino == other.st_ino
  }

  /// Whether words may need tables of languages, if these are missing here and that program exists.
  static func isWanted(for words: [String]) -> Bool {
    needsLanguage(words) && Language.rules == nil && isOther && isThere
  }

  /// Whether a script may need that program, which cannot take over in the middle of a transaction.
  static func isWanted(for script: Script) -> Bool {
    script.commands.contains { $0.words.contains("import") || needsLanguage($0.words) }
      && isOther && isThere
  }

  /// It may be true if the words do not need them: that program does the same, and takes some milliseconds longer to
  /// start.
  private static func needsLanguage(_ words: [String]) -> Bool {
    words.contains { $0 == "--localized" || hasMatches($0) }
  }

  /// Whether a word contains `MATCHES` in upper or lower case. It compares bytes, because a script may have 100,000
  /// words.
  private static func hasMatches(_ word: String) -> Bool {
    let wanted = "matches".utf8
    var rest = word.utf8[...]
    while let start = rest.firstIndex(where: { $0 | 0x20 == wanted.first }) {
      rest = rest[start...]
      if rest.prefix(wanted.count).lazy.map({ $0 | 0x20 }).elementsEqual(wanted) { return true }
      rest.removeFirst()
    }
    return false
  }

  /// Whether that is another program than this one. Otherwise, it would start itself for ever.
  private static var isOther: Bool { FileDBTool.extra.withLock { $0 == nil } && !isThisOne }
  private static var isThere: Bool { access(path, X_OK) == 0 }
  private static var path: String {
    // The folder of this program itself, not of a link to it.
    let program = URL(fileURLWithPath: ThisProgram.path).resolvingSymlinksInPath()
    return program.deletingLastPathComponent().appendingPathComponent(name).path
  }

  /// Makes `input` the standard input.
  private static func provide(_ input: [UInt8]) throws {
    guard let file = tmpfile(), fwrite(input, 1, input.count, file) == input.count, fflush(file) == 0,
      lseek(fileno(file), 0, SEEK_SET) == 0, dup2(fileno(file), STDIN_FILENO) == STDIN_FILENO
    else {
      let reason = String(cString: strerror(errno))
      throw StoreError(.inputOutput, "a temporary file cannot be written: \(reason)")
    }
  }
}

/// The program that is running.
enum ThisProgram {
  static var path: String {
    #if canImport(Darwin)
      return Bundle.main.executablePath ?? CommandLine.arguments[0]
    #else
      return "/proc/self/exe"
    #endif
  }
}
