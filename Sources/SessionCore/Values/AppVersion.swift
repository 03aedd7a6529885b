/// The version of the app that opened a journal, as the app names it: `2.4.1+318`.
///
/// It has 1 to 64 characters of `A–Z a–z 0–9 . _ + -`. That is enough for Semantic Versioning 2.0.0
/// with build metadata, for a date and for a commit. The library does not interpret it;
/// `sessionreplay stats --by version` groups by it.
public struct AppVersion: Hashable, Sendable {
  private let text: String

  /// Creates a version; nil if the text is not 1 to 64 characters of `A–Z a–z 0–9 . _ + -`.
  public init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
      return nil
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "+"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

extension AppVersion: CustomStringConvertible {
  /// The text of the version.
  public var description: String { text }
}
