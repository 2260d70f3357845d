import FileDB
import FileDBEssentials

/// A library that a program loads when it first needs it. It is never unloaded.
struct DynamicLibrary {
  private let handle: UnsafeMutableRawPointer
  private let name: String

  /// - Parameters:
  ///   - name: its name in an error.
  ///   - files: the first one that is there is loaded.
  ///   - package: the package of Debian and Ubuntu that has it.
  /// - Throws: ``StoreError/Code/unreachable`` if it is not installed.
  init(_ name: String, files: [String], package: String) throws(StoreError) {
    guard let handle = files.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else {
      let reason = dlerror().map { " (\(String(cString: $0)))" } ?? ""
      throw StoreError(
        .unreachable,
        "\(name) is not installed or cannot be used\(reason); on Debian and Ubuntu, install the package \(package)")
    }
    (self.handle, self.name) = (handle, name)
  }

  /// - Throws: ``StoreError/Code/unreachable`` if the library is too old to have the function.
  func function<Function>(_ symbol: String) throws(StoreError) -> Function {
    unsafeBitCast(try address(symbol), to: Function.self)
  }

  /// The address of a function that Swift cannot call, because it is variadic.
  func address(_ symbol: String) throws(StoreError) -> UnsafeMutableRawPointer {
    guard let address = dlsym(handle, symbol) else {
      throw StoreError(.unreachable, "the installed version of \(name) lacks the function \(symbol)")
    }
    return address
  }
}
