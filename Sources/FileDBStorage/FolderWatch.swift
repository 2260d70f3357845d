import FileDBEssentials
import Synchronization

/// Waits until any process, this one included, changes something in some folders or their files.
///
/// It only tells that something may have changed. Linux reports this through inotify, and Apple platforms through
/// kqueue. On other systems, and if the system refuses, the caller has to check from time to time.
package final class FolderWatch: Sendable {
  /// Readable once something has changed; -1 if the system reports nothing.
  private let events: CInt
  /// A pipe that ``interrupt()`` fills.
  private let interruption: (reader: CInt, writer: CInt)
  #if canImport(Darwin)
    private let opened = Mutex<[String: OpenedPath]>([:])
  #endif

  /// - Throws: the disk's errors, for example if the process has too many open files.
  package init() throws(DiskError) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw DiskError("pipe", "", errno: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    interruption = (ends[0], ends[1])
    events = Self.makeEvents()
  }

  deinit {
    #if canImport(Darwin)
      for path in opened.withLock({ $0.values }) { close(path.descriptor) }
    #endif
    for descriptor in [events, interruption.reader, interruption.writer] where descriptor >= 0 {
      close(descriptor)
    }
  }

  /// Waits for a change in the folders given to ``watch(_:)``, for an interruption, or until `timeout` has passed;
  /// `nil` waits for ever.
  /// - Returns: whether there was a change or an interruption.
  @discardableResult
  package func wait(upTo timeout: Duration?) -> Bool {
    let milliseconds = timeout.map { CInt($0 / .milliseconds(1)) } ?? -1
    var sources = [
      pollfd(fd: events, events: Int16(POLLIN), revents: 0),  // poll(2) skips -1.
      pollfd(fd: interruption.reader, events: Int16(POLLIN), revents: 0),
    ]
    let count = poll(&sources, nfds_t(sources.count), milliseconds)
    if events >= 0 { drain() }
    return count > 0
  }

  /// Ends ``wait(upTo:)``, for good.
  package func interrupt() {
    var byte: UInt8 = 0
    _ = write(interruption.writer, &byte, 1)
  }
}

#if canImport(Darwin)
  private struct OpenedPath {
    let descriptor: CInt
    let device: dev_t
    let inode: ino_t
  }

  extension FolderWatch {
    private static func makeEvents() -> CInt { kqueue() }

    /// Waits for changes in these folders from now on, and in no others.
    /// - Returns: false if the caller has to check from time to time, because a folder is missing or cannot be watched.
    package func watch(_ folders: [String]) -> Bool {
      // A folder's event reports only names that come and go. A file's own event reports what is written into it.
      let paths = folders.flatMap { folder in
        [folder] + ((try? SystemDisk().list(folder)) ?? []).map { "\(folder)/\($0)" }
      }
      return opened.withLock { opened in
        for (path, old) in opened where !paths.contains(path) || !old.isStill(at: path) {
          close(old.descriptor)  // Its pending events go with it.
          opened[path] = nil
        }
        for path in paths where opened[path] == nil { opened[path] = register(path) }
        return paths.allSatisfy { opened[$0] != nil }
      }
    }

    private func register(_ path: String) -> OpenedPath? {
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      var status = stat()
      let notes = UInt32(NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME | NOTE_ATTRIB)
      var event = kevent(
        ident: UInt(descriptor), filter: Int16(EVFILT_VNODE), flags: UInt16(EV_ADD | EV_CLEAR), fflags: notes,
        data: 0, udata: nil)
      guard fstat(descriptor, &status) == 0, kevent(events, &event, 1, nil, 0, nil) == 0 else {
        close(descriptor)
        return nil
      }
      return OpenedPath(descriptor: descriptor, device: status.st_dev, inode: status.st_ino)
    }

    private func drain() {
      var event = kevent()
      var now = timespec()
      while kevent(events, nil, 0, &event, 1, &now) > 0 {}
    }
  }

  extension OpenedPath {
    fileprivate func isStill(at path: String) -> Bool {
      var status = stat()
      return stat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }
  }
#elseif canImport(Glibc)
  extension FolderWatch {
    private static func makeEvents() -> CInt { inotify_init1(CInt(IN_NONBLOCK | IN_CLOEXEC)) }

    /// Waits for changes in these folders from now on, besides those of earlier calls.
    /// - Returns: false if the caller has to check from time to time, because a folder is missing or cannot be watched.
    package func watch(_ folders: [String]) -> Bool {
      // Not IN_CLOSE_WRITE: the process that waits also opens the journal for writing, and would report itself.
      let changes =
        IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
        | IN_MOVE_SELF
      // Adding a folder that is already watched changes nothing. A folder that took the place of another is new.
      return folders.filter { inotify_add_watch(events, $0, UInt32(changes)) < 0 }.isEmpty
    }

    private func drain() {
      var buffer = [UInt8](repeating: 0, count: 16 << 10)
      while read(events, &buffer, buffer.count) > 0 {}
    }
  }
#else
  extension FolderWatch {
    private static func makeEvents() -> CInt { -1 }

    /// - Returns: false: the caller has to check from time to time.
    package func watch(_ folders: [String]) -> Bool { false }

    private func drain() {}
  }
#endif
