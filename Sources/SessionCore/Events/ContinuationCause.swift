/// Why a journal does not go on and another one does.
public struct ContinuationCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// It was damaged, and set aside.
  public static let damaged = ContinuationCause(rawValue: 0)
  /// A newer version wrote it, and it was set aside.
  public static let newerVersion = ContinuationCause(rawValue: 1)
  /// What stood in its place is no journal, and was set aside.
  public static let notAJournal = ContinuationCause(rawValue: 2)
  /// It is not there any more; the secrets of its session are.
  public static let lost = ContinuationCause(rawValue: 3)
}

@_spi(Internals) extension ContinuationCause: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["damaged", "newerVersion", "notAJournal", "lost"]
}
