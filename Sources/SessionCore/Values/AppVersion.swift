/// Which version of the app opened a journal, as the app names it: `2.4.1+318`.
///
/// 1 to 64 of `A–Z a–z 0–9 . _ + -`: enough for Semantic Versioning 2.0.0 with its build metadata, for
/// a date and for a commit. Nothing is read out of it; `sessionreplay stats --by version` groups by it.
public struct AppVersion: Hashable, Sendable {
  private let text: String

  /// The version with this name; `nil` where that is not 1 to 64 of `A–Z a–z 0–9 . _ + -`.
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
  /// The name.
  public var description: String { text }
}
