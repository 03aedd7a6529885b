/// Waits for the first of several endings.
///
/// Later endings are ignored.
final class Race<Ending: Sendable>: Sendable {
  private let ending = WaitableState<Ending?>(nil)

  func end(_ ending: Ending) {
    self.ending.change { first in if case .none = first { first = .some(ending) } }
  }

  /// Returns the first ending, and waits for it even if the task is cancelled.
  func first() async -> Ending {
    await ending.answer { $0 }
  }
}
