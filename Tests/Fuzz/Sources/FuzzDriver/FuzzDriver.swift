/// One input in; libFuzzer takes a crash for a find.
public typealias FuzzBody = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>, _ body: FuzzBody
) -> CInt

/// Hands libFuzzer the command line and `body`. Its own `main` is not to be had: SwiftPM gives every program one.
public func fuzz(_ body: FuzzBody) -> CInt {
  var count = CommandLine.argc
  var arguments = CommandLine.unsafeArgv
  return runDriver(&count, &arguments, body)
}
