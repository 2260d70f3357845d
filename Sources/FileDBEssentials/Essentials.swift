// What all modules need from the system, under one name on every platform. If there is a module with only Foundation's
// essentials, this uses it: all of Foundation would make `filedb` start more slowly; see Decisions/027.

#if canImport(FoundationEssentials)
  @_exported import FoundationEssentials
#else
  @_exported import Foundation
#endif

#if canImport(Darwin)
  @_exported import Darwin
#elseif canImport(Musl)
  @_exported import Musl
#else
  @_exported import Glibc
#endif
