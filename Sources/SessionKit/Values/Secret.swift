/// A secret text.
///
/// It is never printed, dumped, reflected or encoded.
///
/// Only ``plaintext`` returns the text.
///
/// - Requirement: STO-3
public struct Secret: Hashable, Sendable {
  /// The text itself.
  public let plaintext: String

  /// Wraps a text.
  public init(_ plaintext: String) {
    self.plaintext = plaintext
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
