// What all modules need of the system, by the name that it has on each platform. Foundation's essentials alone, where
// there are such: all of Foundation would make `filedb` start later; see Decisions/027.

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
