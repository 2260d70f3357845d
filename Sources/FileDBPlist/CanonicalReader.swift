package enum CanonicalReader {
  package static func entries(of bytes: ArraySlice<UInt8>) -> PlistDictionary {
    let document = Array(PlistWriter.header.utf8) + Array(bytes) + Array(PlistWriter.footer.utf8)
    return (try? PlistParser.parse(document))?.dict ?? PlistDictionary()
  }
}
