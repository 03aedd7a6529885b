internal import Dispatch
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A signal that wakes a waiting task when the system reports a change of a file.
///
/// Some file systems never report changes, above all network file systems. So every wait has a
/// limit.
package final class FileChanges: LogChanges {
  private struct State {
    /// Whether something happened since the last wait ended.
    var hasChanged = false
    /// The numbers of the last wait that began and of the last that ended.
    var begun: UInt64 = 0
    var ended: UInt64 = 0
    var waiter: CheckedContinuation<Void, Never>?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "journal changes")
  private let source = Mutex<(any DispatchSourceProtocol)?>(nil)

  /// Ends the current wait at its limit; all waits share one timer, since a follower never ends.
  private let timer: Mutex<any DispatchSourceTimer>

  /// Whether the system reports changes; if not, every wait lasts to its limit.
  package var isNotified: Bool { source.withLock { $0 != nil } }

  /// Watches the file that is at `path` now, even if it is moved.
  package init(of path: String) {
    timer = Mutex(DispatchSource.makeTimerSource(queue: queue))
    timer.withLock { timer in
      timer.setEventHandler { [weak self] in self?.wakeLast() }
      timer.resume()
    }
    source.withLock { source in
      source = Self.watch(path, on: queue) { [weak self] in self?.note() }
      source?.resume()
    }
  }

  deinit {
    source.withLock { $0?.cancel() }
    timer.withLock { $0.cancel() }
  }

  /// Waits for a change, but no longer than `limit`.
  ///
  /// Returns at once if there was a change since the last wait. Also returns when the task is
  /// cancelled.
  package func wait(atMost limit: Duration) async {
    let ticket = begin()
    let parts = limit.components
    let nanoseconds = Double(parts.seconds) * 1e9 + Double(parts.attoseconds) / 1e9
    let span = DispatchTimeInterval.nanoseconds(Int(min(max(0, nanoseconds), 1e17)))
    setLimit(.now() + span)
    await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket) }
    } onCancel: {
      wake(ticket)
    }
    end()
    setLimit(.distantFuture)
  }

  // Never inlined into `wait`: a lock knows its thread, and the thread may differ after an `await`.
  // The optimizer would assume that it is the same.

  @inline(never)
  private func begin() -> UInt64 {
    state.withLock { state in
      state.begun += 1
      return state.begun
    }
  }

  @inline(never)
  private func park(_ continuation: CheckedContinuation<Void, Never>, _ ticket: UInt64) {
    let isOver = state.withLock { state in
      if state.hasChanged || Task.isCancelled || state.ended >= ticket { return true }
      state.waiter = continuation
      return false
    }
    if isOver { continuation.resume() }
  }

  @inline(never)
  private func end() {
    state.withLock { $0.hasChanged = false }
  }

  @inline(never)
  private func setLimit(_ deadline: DispatchTime) {
    timer.withLock { $0.schedule(deadline: deadline) }
  }

  private func note() {
    let waiter = state.withLock { state in
      state.hasChanged = true
      return state.takeWaiter()
    }
    waiter?.resume()
  }

  private func wakeLast() {
    wake(state.withLock { $0.begun })
  }

  private func wake(_ ticket: UInt64) {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.ended = max(state.ended, ticket)
      return state.begun == ticket ? state.takeWaiter() : nil
    }
    waiter?.resume()
  }
}

extension FileChanges {
  #if os(Linux) || os(Android)
    /// Returns a source that reads inotify's events for the file; nil if it cannot be watched.
    private static func watch(
      _ path: String, on queue: DispatchQueue, _ note: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      let events = UInt32(IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
      guard inotify_add_watch(descriptor, path, events) >= 0 else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        // Only the fact that there are events matters, not their content.
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
          while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
        note()
      }
      source.setCancelHandler { close(descriptor) }
      return source
    }
  #elseif canImport(Darwin)
    /// Returns a source of the file's changes; nil if it cannot be watched.
    private static func watch(
      _ path: String, on queue: DispatchQueue, _ note: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
      let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .rename, .delete],
        queue: queue)
      source.setEventHandler(handler: note)
      source.setCancelHandler { close(descriptor) }
      return source
    }
  #else
    private static func watch(
      _ path: String, on queue: DispatchQueue, _ note: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? { nil }
  #endif
}
