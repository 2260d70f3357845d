import FileDBStorage

extension RecordingDisk {
  /// Calls `body` with the states in which a power cut after each event may leave the disk, and with whether the work
  /// was acknowledged by then.
  package func forEachCut(seed: UInt64, _ body: (DiskImage, _ isAcknowledged: Bool) throws -> Void) rethrows {
    var random = SeededRandom(seed: seed)
    var disk = UnsyncedDisk(before)
    var isAcknowledged = false
    for event in [nil] + events.map(Optional.some) {
      if let event { disk.apply(event) }
      if case .acknowledged = event { isAcknowledged = true }
      let states = CrashStates(of: disk, detail: .init(imagesOfAFile: 40, states: 80), random: &random)
      var order = SeededRandom(seed: random.next())
      try states.forEach(random: &order) { _, make in try body(make().image, isAcknowledged) }
    }
  }
}
