/// How much room a journal takes in advance (Specs/JournalFormat.md, "Room").
///
/// A commit that changes the size of its file makes the file system write its own records too.
/// Zeros written behind a batch, in the same write, spare the following commits that.
package struct PreallocationRule: Equatable, Sendable {
  /// The file grows to a multiple of this, in bytes; 0 if it takes no room in advance.
  package let step: UInt64

  /// How much room is left at least behind every batch, in bytes: on a disk that is full by now, so much
  /// can still be appended.
  let reserve: UInt64

  /// The most steps that are taken at once.
  private static let mostSteps: UInt64 = 16

  /// Nothing in advance.
  package static let none = PreallocationRule(step: 0)

  /// 64 KiB, and up to 1 MiB at once in a file that is larger.
  package static let standard = PreallocationRule(step: 64 * 1024, reserve: 4 * 1024)

  package init(step: UInt64, reserve: UInt64 = 0) {
    self.step = step
    self.reserve = min(reserve, step)
  }

  /// How many zeros follow what ends at `end`, where a file of `size` bytes must grow for it and for
  /// the reserve.
  func zeros(behind end: UInt64, in size: UInt64) -> Int {
    guard step > 0, end + reserve > size else { return 0 }
    let steps = min(max(1, end / (8 * step)), Self.mostSteps)
    return Int((end / step + steps) * step - end)
  }
}
