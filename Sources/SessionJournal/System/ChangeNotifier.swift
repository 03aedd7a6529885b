internal import CFileLock
internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The system's notices of changes of files, for all journals of a process.
///
/// On Linux one instance of inotify watches all files, since a user has few instances (128 by
/// default). Each file takes one watch. A user may have 8,192 of them or more, by memory. If no
/// instance or no watch is left, a file cannot be watched, and its reader looks at it each second.
///
/// The system looks for the file without a lock of this process. So if a disk does not answer, the watches of
/// files on other disks go on. Watches that are not needed any more end after the answer.
///
/// - Requirement: SCL-2, JRN-1
package final class ChangeNotifier: Sendable {
  // If the system's queue was full, it has dropped events, so every reader looks at its file then.
  // A watch belongs to a file and not to its name: after a compaction the system reports that the
  // old file has lost its name, and the session watches the new one.

  /// The notifier of this process.
  package static let shared = ChangeNotifier()

  /// A file that is watched.
  struct Watch: Sendable {
    /// The number of the system's watch; 0 if the system has none.
    fileprivate let descriptor: Int32
    fileprivate let number: UInt64
  }

  fileprivate struct State {
    #if os(Linux) || os(Android)
    /// The instance of inotify; nil before the first watch.
    var instance: Int32?
    var source: (any DispatchSourceRead)?
    /// What is called for each watch of the system.
    ///
    /// The system has one watch for a file, however often it is watched here.
    var notes: [Int32: [UInt64: @Sendable () -> Void]] = [:]
    /// How many watches the system is asked for now.
    ///
    /// Each may be one that the system has already, and nothing is known of it until the answer.
    var asked = 0
    /// The watches that the system has ended meanwhile; it gives a number once only.
    var ended: Set<Int32> = []
    /// The watches that became unused meanwhile.
    var unused: Set<Int32> = []
    #else
    /// The system's source for each watch; each has a descriptor of its file.
    var sources: [UInt64: any DispatchSourceFileSystemObject] = [:]
    #endif
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "journal changes")

  /// The number of files that may be watched.
  ///
  /// A test uses it in place of the system's limit.
  private let limit: Int

  /// Asks the system for a watch, or opens the file for one; below 0 if that fails.
  ///
  /// A test waits in it, as for a disk that does not answer.
  private let ask: @Sendable (_ instance: Int32, _ path: String) -> Int32

  /// Creates a notifier that watches at most `limit` files.
  package init(
    limit: Int = .max,
    ask: @escaping @Sendable (_ instance: Int32, _ path: String) -> Int32 = ChangeNotifier.ask
  ) {
    (self.limit, self.ask) = (limit, ask)
  }

  deinit {
    state.withLock { $0.end() }
  }

  /// The number of files that are watched.
  package var count: Int { state.withLock { $0.count } }

  /// Whether only this system can write to the file at `path`; nil if that is not known.
  ///
  /// A file server reports no changes by other systems.
  package static func reportsAll(of path: String) -> Bool? {
    #if os(Linux) || os(Android)
    cfilelock_path_is_local(path) == 1
    #else
    // An app would have to give a reason for asking which file system it is.
    nil
    #endif
  }
}

#if os(Linux) || os(Android)
extension ChangeNotifier {
  /// Calls `note` after each change of the file that is at `path` now; nil if it cannot be
  /// watched.
  ///
  /// A change before it returns may be missed: the caller reads the file afterwards.
  func watch(_ path: String, _ note: @escaping @Sendable () -> Void) -> Watch? {
    let instance: Int32? = state.withLock { state in
      guard state.notes.count < limit, let instance = opened(&state) else { return nil }
      state.asked += 1
      return instance
    }
    guard let instance else { return nil }
    let descriptor = ask(instance, path)
    return state.withLock { state in
      defer { state.endAsking(instance) }
      guard descriptor >= 0 else { return nil }
      state.lastNumber += 1
      let number = state.lastNumber
      // If the file is gone already, the watch is not live.
      if !state.ended.contains(descriptor) {
        state.notes[descriptor, default: [:]][number] = note
      }
      return Watch(descriptor: descriptor, number: number)
    }
  }

  package static let ask: @Sendable (Int32, String) -> Int32 = { instance, path in
    inotify_add_watch(
      instance, path, UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF))
  }

  /// Whether the system still has the watch; it ends with the file.
  func isLive(_ watch: Watch) -> Bool {
    state.withLock { $0.notes[watch.descriptor]?[watch.number] != nil }
  }

  func end(_ watch: Watch) {
    let removed = state.withLock { state -> (@Sendable () -> Void)? in
      // If the file was removed, the system has ended its watch, and the number means nothing.
      let note = state.notes[watch.descriptor]?.removeValue(forKey: watch.number)
      let isLast = note != nil && state.notes[watch.descriptor]?.isEmpty == true
      if isLast, let instance = state.instance {
        state.notes[watch.descriptor] = nil
        state.remove(watch.descriptor, from: instance)
      }
      return note
    }
    _ = removed
  }

  private func opened(_ state: inout State) -> Int32? {
    if let instance = state.instance { return instance }
    let instance = aboveStandardStreams(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
    guard instance >= 0 else { return nil }
    let source = DispatchSource.makeReadSource(fileDescriptor: instance, queue: queue)
    source.setEventHandler { [weak self] in self?.takeEvents(instance) }
    source.setCancelHandler { close(instance) }
    source.resume()
    (state.instance, state.source) = (instance, source)
    return instance
  }

  /// Reads the events that wait, and calls the notes of their files.
  private func takeEvents(_ instance: Int32) {
    let notes = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 8) {
      buffer -> [@Sendable () -> Void] in
      var notes: [@Sendable () -> Void] = []
      while true {
        let count = read(instance, buffer.baseAddress, buffer.count)
        guard count > 0 else { return notes }
        let events = InotifyEvents(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        notes += state.withLock { $0.take(events) }
      }
    }
    for note in notes { note() }
  }
}

extension ChangeNotifier.State {
  fileprivate var count: Int { notes.count }

  fileprivate func end() { source?.cancel() }

  /// Removes a watch that has no notes, unless the system may just have given it to another reader.
  fileprivate mutating func remove(_ descriptor: Int32, from instance: Int32) {
    if asked > 0 {
      unused.insert(descriptor)
    } else {
      inotify_rm_watch(instance, descriptor)
    }
  }

  /// Notes that the system has answered; after the last answer, removes what is not used.
  fileprivate mutating func endAsking(_ instance: Int32) {
    asked -= 1
    guard asked == 0 else { return }
    for descriptor in unused where notes[descriptor] == nil {
      inotify_rm_watch(instance, descriptor)
    }
    (unused, ended) = ([], [])
  }

  /// Returns the notes of the files that have changed.
  fileprivate mutating func take(_ events: InotifyEvents) -> [@Sendable () -> Void] {
    // The file is gone, and the system has ended its watch.
    defer {
      for descriptor in events.ended { notes[descriptor] = nil }
      if asked > 0 { ended.formUnion(events.ended) }
      unused.subtract(events.ended)
    }
    // The system has dropped events, so any file may have changed.
    if events.hasLost { return notes.values.flatMap(\.values) }
    return events.changed.flatMap { notes[$0].map { Array($0.values) } ?? [] }
  }
}

/// The events of inotify in a buffer.
struct InotifyEvents: Sendable {
  private(set) var changed: Set<Int32> = []
  private(set) var ended: Set<Int32> = []
  /// Whether the system's queue was full, so that it has dropped events.
  private(set) var hasLost = false

  init(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    let size = MemoryLayout<inotify_event>.size
    while place + size <= bytes.count {
      let descriptor = bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
      let mask = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
      let nameLength = bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)
      if mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLost = true }
      if mask & UInt32(IN_IGNORED) != 0 { ended.insert(descriptor) }
      changed.insert(descriptor)
      place += size + Int(nameLength)
    }
  }
}
#elseif canImport(Darwin)
extension ChangeNotifier {
  /// Calls `note` after each change of the file that is at `path` now; nil if it cannot be
  /// watched.
  ///
  /// Dispatch has one kqueue for all sources of a process.
  func watch(_ path: String, _ note: @escaping @Sendable () -> Void) -> Watch? {
    let descriptor = ask(0, path)
    guard descriptor >= 0 else { return nil }
    return state.withLock { state in
      guard state.sources.count < limit else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .rename, .delete],
        queue: queue)
      source.setEventHandler(handler: note)
      source.setCancelHandler { close(descriptor) }
      source.resume()
      state.lastNumber += 1
      state.sources[state.lastNumber] = source
      return Watch(descriptor: 0, number: state.lastNumber)
    }
  }

  package static let ask: @Sendable (Int32, String) -> Int32 = { _, path in
    openDescriptor(path, O_EVTONLY)
  }

  /// Whether the system still has the watch: as long as its descriptor is open.
  func isLive(_ watch: Watch) -> Bool {
    state.withLock { $0.sources[watch.number] != nil }
  }

  func end(_ watch: Watch) {
    state.withLock { $0.sources.removeValue(forKey: watch.number)?.cancel() }
  }
}

extension ChangeNotifier.State {
  fileprivate var count: Int { sources.count }

  fileprivate func end() {
    for source in sources.values { source.cancel() }
  }
}
#else
extension ChangeNotifier {
  func watch(_ path: String, _ note: @escaping @Sendable () -> Void) -> Watch? { nil }
  package static let ask: @Sendable (Int32, String) -> Int32 = { _, _ in -1 }
  func isLive(_ watch: Watch) -> Bool { false }
  func end(_ watch: Watch) {}
}

extension ChangeNotifier.State {
  fileprivate var count: Int { 0 }
  fileprivate func end() {}
}
#endif
