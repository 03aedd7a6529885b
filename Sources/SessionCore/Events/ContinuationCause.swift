/// Why a new journal continues another one.
public struct ContinuationCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The other journal was damaged, and was quarantined.
  public static let damaged = ContinuationCause(rawValue: 0)
  /// A newer version wrote the other journal, and it was quarantined.
  public static let newerVersion = ContinuationCause(rawValue: 1)
  /// The file in the journal's place was no journal, and was quarantined.
  public static let notAJournal = ContinuationCause(rawValue: 2)
  /// The other journal is gone, but the secrets of its session exist.
  public static let lost = ContinuationCause(rawValue: 3)
}

@_spi(Internals) extension ContinuationCause: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = ["damaged", "newerVersion", "notAJournal", "lost"]
}
