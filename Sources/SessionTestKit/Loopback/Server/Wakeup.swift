import Synchronization

/// Wakes a thread that sleeps in `poll`; harmless once the thread is gone.
final class Wakeup: Sendable {
  private let writer: Mutex<Socket?>

  init(writer: Socket) {
    self.writer = Mutex(writer)
  }

  func ring() {
    writer.withLock { writer in
      // A full pipe is a bell that rings already.
      _ = writer?.write([0])
    }
  }

  /// Closes the bell; under the lock, so that no ring goes to a descriptor that was given away.
  func remove() {
    writer.withLock { writer in
      writer?.close()
      writer = nil
    }
  }
}
