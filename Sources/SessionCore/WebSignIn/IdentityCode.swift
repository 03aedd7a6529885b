/// A code of an identity provider, of a form in which it may be shown and logged (STO-3).
///
/// A code of a server as ``RequestFailure`` keeps it, or one of Azure AD B2C: `AADB2C` and four to six
/// digits. Whatever else stands where a code belongs is none: a server may repeat a name or a token there.
public struct IdentityCode: Hashable, Sendable, CustomStringConvertible {
  /// The code.
  public let description: String

  /// The code that a text is; `nil` where it has no such form.
  public init?(_ text: String) {
    guard RequestFailure.isCode(text) || IdentityCode.isOfB2C(text.utf8[...]) else { return nil }
    description = text
  }

  /// The first code of Azure AD B2C in a text of any length, where a letter or a digit is neither before
  /// nor behind it; `nil` where there is none.
  public init?(within text: String) {
    let isPart = { (byte: UInt8) in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    let words = text.utf8.split { !isPart($0) }
    guard let code = words.first(where: IdentityCode.isOfB2C) else { return nil }
    description = String(decoding: code, as: UTF8.self)
  }

  private static func isOfB2C(_ text: Substring.UTF8View) -> Bool {
    let digits = text.dropFirst(6)
    return text.prefix(6).elementsEqual("AADB2C".utf8) && (4...6).contains(digits.count)
      && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}
