import Synchronization

/// A wakeup of a thread that waits in `poll`; it does nothing after the thread has ended.
final class Wakeup: Sendable {
  private let writer: Mutex<Socket?>

  init(writer: Socket) {
    self.writer = Mutex(writer)
  }

  func ring() {
    writer.withLock { writer in
      // If the socket's buffer is full, a wakeup is already pending.
      _ = writer?.write([0])
    }
  }

  /// Closes the socket.
  ///
  /// The lock ensures that no wakeup is written to a descriptor that was closed.
  func remove() {
    writer.withLock { writer in
      writer?.close()
      writer = nil
    }
  }
}
