import ArgumentParser
import FileDB
import FileDBEssentials

/// The exit codes, according to sysexits.h.
enum ExitStatus {
  static let help = """
    Exit codes: 0 done; 1 not found, or no record matches; 64 wrong usage; 65 wrong data; 66 a file is missing; 69 a \
    server cannot be reached; 74 a disk error; 75 the store is locked, try again; 76 it is not known whether the \
    command was carried out; 77 no permission.
    """

  /// The code for an error that a command has thrown. 1 would mean that something was not found.
  static func code(of error: any Error) -> ExitCode {
    switch error {
    case let error as StoreError: ExitCode(error.exitStatus)
    case is EncodingError: ExitCode(65)
    case is CocoaError: ExitCode(74)
    default: FileDBTool.exitCode(for: error)
    }
  }
}

extension StoreError {
  var exitStatus: Int32 {
    switch code {
    case .recordNotFound, .indexOutOfRange, .tableNotFound: 1
    case .invalidTableName, .reservedField, .invalidPredicate: 64
    case .fileNotFound, .notAFolder, .storeGone: 66
    case .unreachable: 69
    case .diskFull, .inputOutput: 74
    case .locked: 75
    case .outcomeUnknown: 76
    case .permissionDenied: 77
    default: 65
    }
  }
}
