import FileDBStorage
import Testing

@Suite struct JournalSalvageTests {
  private let start = JournalFrame(
    kind: .start, sequence: 0, synced: 0, payload: Array("FileDB journal 2\n65536\n0badcafe\n".utf8)[...])

  private func commit(_ number: UInt64) -> JournalFrame {
    let payload = [UInt8](repeating: 64 + UInt8(number), count: 500)
    return JournalFrame(kind: .commit, sequence: number, synced: number - 1, payload: payload[...])
  }

  /// A journal with these frames, and the place where each begins.
  private func journal(_ frames: [JournalFrame]) -> (bytes: [UInt8], starts: [Int]) {
    var bytes: [UInt8] = []
    var starts: [Int] = []
    for frame in frames {
      starts.append(bytes.count)
      bytes += frame.bytes(salt: 0x0bad_cafe)
    }
    return (bytes + [UInt8](repeating: 0, count: 1 << 16 - bytes.count), starts)
  }

  @Test func oneWrongByteInEachFrameIsCorrected() throws {
    let frames = [start] + (1...4).map(commit)
    let (sound, starts) = journal(frames)
    for offset in 0..<64 + 500 {
      var bytes = sound
      for (frame, start) in zip(frames, starts) where offset < 64 + frame.payload.count {
        bytes[start + offset] ^= 1
      }
      let salvage = try JournalSalvage(bytes)
      #expect(salvage.frames == frames && salvage.lostCount == 0, "byte \(offset) of each frame")
      #expect(salvage.notes.map(\.offset) == starts.filter { bytes[$0 + offset] != sound[$0 + offset] })
    }
  }

  /// The next line no longer says that the commit was synced, so the zero alone must not end the journal.
  @Test(arguments: [63, 64 + 499]) func zeroBeforeADamagedLineIsCorrected(place: Int) throws {
    let frames = [start] + (1...4).map(commit)
    let (sound, starts) = journal(frames)
    var bytes = sound
    bytes[starts[3] + place] = 0
    bytes[starts[4] + 20] ^= 1
    let salvage = try JournalSalvage(bytes)
    #expect(salvage.frames == frames && salvage.lostCount == 0)
  }

  /// In a long frame the checksum does not tell one wrong byte from several.
  @Test(arguments: [4_096, 4_097]) func longFrameIsNotCorrected(length: Int) throws {
    let long = JournalFrame(
      kind: .commit, sequence: 1, synced: 0, payload: [UInt8](repeating: 65, count: length)[...])
    let (sound, starts) = journal([start, long])
    var bytes = sound
    bytes[starts[1] + 64 + 100] ^= 1
    let salvage = try JournalSalvage(bytes)
    #expect(salvage.lostCount == (length > 4_096 ? 1 : 0))
    #expect(salvage.frames == (length > 4_096 ? [start] : [start, long]))
  }

  @Test func frameBeyondCorrectionIsLeftOut() throws {
    let frames = [start] + (1...4).map(commit)
    let (sound, starts) = journal(frames)
    for (hit, start) in starts.enumerated() {
      var bytes = sound
      for place in start + 20..<start + 28 { bytes[place] = 0x20 }
      for place in start + 64..<start + 74 { bytes[place] = 0x20 }
      let salvage = try JournalSalvage(bytes)
      #expect(salvage.frames == frames.enumerated().filter { $0.offset != hit }.map(\.element))
      #expect(salvage.lostCount == 1 && salvage.notes.map(\.offset) == [start])
    }
  }

  /// The second copy is whole, but its commit was taken already.
  @Test func repeatedFrameIsTakenOnce() throws {
    let frames = [start, commit(1), commit(2), commit(1), commit(3), start, commit(4)]
    let salvage = try JournalSalvage(journal(frames).bytes)
    #expect(salvage.frames.map(\.sequence) == [0, 1, 2, 3, 4])
    #expect(salvage.lostCount == 2)
  }

  @Test func journalOfUnknownFormatIsRefused() {
    let start = JournalFrame(
      kind: .start, sequence: 0, synced: 0, payload: Array("FileDB journal 2\n65536\n".utf8)[...])
    var bytes = journal([start, commit(1)]).bytes
    bytes[3] ^= 1
    #expect(throws: JournalDamage(reason: .unknownFormat("FileDB journal 2\n65536\n"), offset: 0)) {
      _ = try JournalSalvage(bytes)
    }
  }

  @Test func bytesWithoutFramesYieldNoFrames() throws {
    for bytes in [[], [1], [UInt8](repeating: 0, count: 100), [UInt8](repeating: 99, count: 1_000)] {
      #expect(try JournalSalvage(bytes).frames.isEmpty)
    }
  }
}
