/// How much room a journal preallocates (Specs/JournalFormat.md, "Room").
///
/// A commit that changes the size of its file makes the file system write metadata too. Zeros
/// written after a batch, in the same write, save the next commits that cost.
package struct PreallocationRule: Equatable, Sendable {
  /// The file grows to a multiple of this, in bytes; 0 if nothing is preallocated.
  package let step: UInt64

  /// The least room that is left after every batch, in bytes.
  ///
  /// This much can still be appended if the disk is full later.
  let reserve: UInt64

  /// The most steps that are taken at once.
  private static let mostSteps: UInt64 = 16

  /// The rule that preallocates nothing.
  package static let none = PreallocationRule(step: 0)

  /// The default: 64 KiB at once, and up to 1 MiB in a larger file.
  package static let standard = PreallocationRule(step: 64 * 1024, reserve: 4 * 1024)

  package init(step: UInt64, reserve: UInt64 = 0) {
    self.step = step
    self.reserve = min(reserve, step)
  }

  /// Returns how many zeros to write after a batch that ends at `end`; 0 if a file of `size` bytes
  /// has room for it and the reserve.
  func zeros(behind end: UInt64, in size: UInt64) -> Int {
    guard step > 0, end + reserve > size else { return 0 }
    let steps = min(max(1, end / (8 * step)), Self.mostSteps)
    return Int((end / step + steps) * step - end)
  }
}
