import SessionCore
import Synchronization

/// A server's time that only the test changes.
final class TestTime: Sendable {
  private let milliseconds = Mutex<Int64>(1_700_000_000_000)

  var clock: @Sendable () -> Timestamp {
    { Timestamp(milliseconds: self.milliseconds.withLock { $0 }) }
  }

  func advance(by milliseconds: Int64) {
    self.milliseconds.withLock { $0 += milliseconds }
  }
}
