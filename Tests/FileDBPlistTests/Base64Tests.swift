import Foundation
import TestSupport
import Testing

@testable import FileDBPlist

@Suite struct Base64Tests {
  @Test func base64OfEveryLengthMatchesFoundation() {
    var random = SeededRandom.fromEnvironment(#function)
    for count in 0...200 {
      let data = Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
      let theirs = data.base64EncodedString()
      #expect(encode(data, indentation: 0).filter { $0 != "\n" } == theirs)
      #expect(Base64.length(of: count) == theirs.utf8.count)
      #expect(decode(theirs) == data)
    }
  }

  @Test func base64OfEveryByteMatchesFoundation() {
    for byte in UInt8.min...UInt8.max {
      for data in [Data([byte]), Data([0, byte]), Data([255, 0, byte])] {
        let theirs = data.base64EncodedString()
        #expect(encode(data, indentation: 0) == theirs + "\n")
        #expect(decode(theirs) == data)
      }
    }
  }

  /// A slice of data does not begin at index 0.
  @Test func sliceIsEncodedFromItsStart() {
    let slice = Data([9, 9, 1, 2, 3, 4]).dropFirst(2)
    #expect(encode(slice, indentation: 0) == "AQIDBA==\n")
  }

  @Test func encodedLinesEndAtColumn76() {
    for indentation in 0...10 {
      let tabs = min(indentation, 8)
      let lines = encode(Data(count: 200), indentation: indentation).split(separator: "\n")
      for line in lines { #expect(line.prefix { $0 == "\t" }.count == tabs) }
      for line in lines.dropLast() { #expect(line.utf8.count - tabs == 76 - 8 * tabs) }
    }
    #expect(encode(Data(), indentation: 3) == "")
    #expect(encode(Data(count: 57), indentation: 0) == String(repeating: "A", count: 76) + "\n")
  }

  /// Foundation would silently drop a wrong byte, or all that follows it.
  @Test func invalidBase64IsRefused() {
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for place in 0..<8 {
      for byte in UInt8.min...UInt8.max where !alphabet.contains(byte) {
        var text = Array("QUJDREVG".utf8)
        text[place] = byte
        let isPadding = place == 7 && byte == UInt8(ascii: "=")
        #expect(
          (text.withUnsafeBufferPointer { Base64.decode($0) } != nil) == isPadding, "\(byte) at \(place)")
      }
    }
    for text in [
      "Q", "QQ", "QQ=", "QQQ", "QQ==QUJD", "=", "==", "===", "====", "Q===", "QQ=Q", "QUJDQ", "QQ-_",
    ] {
      #expect(decode(text) == nil, "\(text)")
    }
    #expect(decode("") == Data())
    // The last bits have no byte to go to.
    #expect(decode("QR==") == Data("A".utf8))
  }

  private func encode(_ data: Data, indentation: Int) -> String {
    var bytes: [UInt8] = []
    Base64.append(data, indentation: indentation, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func decode(_ text: String) -> Data? {
    Array(text.utf8).withUnsafeBufferPointer { Base64.decode($0) }
  }
}
