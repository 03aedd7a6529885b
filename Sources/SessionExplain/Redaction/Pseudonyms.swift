@_spi(Internals) package import SessionCore

/// Pseudonyms for values that could identify a user.
///
/// The same value under the same key has the same pseudonym. Without the key, a pseudonym reveals
/// nothing. The type keeps no state, so the result does not depend on the order of calls.
package struct Pseudonyms: Equatable, Sendable {
  /// The category of a value; equal texts in two categories have different pseudonyms.
  package enum Category: String, CaseIterable, Sendable {
    case user = "user"
    case role = "role"
    case school = "school"
    case unit = "unit"
    case permission = "permission"
    case token = "jti"
    case boot = "boot"
    case opening = "opening"
    case namespace = "namespace"
    case lock = "lock"
    case code = "code"
    case journal = "journal"
    case key = "key"
  }

  private let low: UInt64
  private let high: UInt64

  /// Creates pseudonyms under a key of two numbers; without them no guess can be tested.
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// Creates pseudonyms under a chosen key, so that several files have the same ones.
  package init(key: [UInt8]) {
    (low, high) = SipHash.halves(
      of: key, low: 0x7365_7373_696F_6E20, high: 0x7073_6575_646F_6E79)
  }

  /// Creates the pseudonyms of one journal, from its identifier and its salt.
  ///
  /// They are the same each time, and different for every other journal.
  package init(journal: (high: UInt64, low: UInt64), salt: UInt64) {
    let words = [journal.high, journal.low, salt]
    let message = words.flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) }
    }
    (low, high) = SipHash.halves(of: message, low: salt, high: journal.high ^ journal.low)
  }

  /// Returns a pseudonym such as `user-k3v9q2mh4t`: the category and 50 bits of the value's hash.
  package func name(_ category: Category, _ value: String) -> String {
    let bits = halves(category, value).0
    let digits = (0..<10).map { Self.letters[Int(bits >> ($0 * 5) & 31)] }
    return category.rawValue + "-" + String(decoding: digits, as: UTF8.self)
  }

  /// Returns whether a text has the form of a pseudonym of this category.
  static func isName(_ category: Category, _ text: String) -> Bool {
    let prefix = category.rawValue + "-"
    let digits = text.utf8.dropFirst(prefix.utf8.count)
    return text.hasPrefix(prefix) && digits.count == 10 && digits.allSatisfy(letters.contains)
  }

  /// Returns the pseudonym of a journal's identifier: a UUID of version 8 (RFC 9562).
  ///
  /// Its bits reveal nothing except the version.
  package func journal(_ value: String) -> Identifier {
    let (high, low) = halves(.journal, value)
    return Identifier(
      uuidHigh: high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000,
      low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// Crockford's digits, none of which looks like another.
  private static let letters = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

  private func halves(_ category: Category, _ value: String) -> (UInt64, UInt64) {
    SipHash.halves(of: Array("\(category.rawValue)\0\(value)".utf8), low: low, high: high)
  }
}

/// The names of a journal that its explanations show: its identifier, and pseudonyms of users.
package struct JournalNames: Sendable {
  /// The identifier; `nil` if it is not known.
  package let journal: String?
  private let pseudonyms: Pseudonyms?
  /// Whether the journal's own records have pseudonyms.
  private let isRedacted: Bool

  /// Creates names; without pseudonyms, no user is named.
  package init(journal: Identifier? = nil, pseudonyms: Pseudonyms? = nil) {
    self.journal = journal?.description
    self.pseudonyms = pseudonyms
    // A redacted journal has a UUID of version 8, which no other journal has.
    isRedacted = journal?.uuid.map { $0.high >> 12 & 0xF == 8 } ?? false
  }

  /// Returns the pseudonym of a user; `nil` without pseudonyms.
  ///
  /// A user of a redacted journal keeps its pseudonym, so that all answers name the same one.
  func user(_ id: Identifier) -> String? {
    let text = id.description
    if isRedacted, Pseudonyms.isName(.user, text) { return text }
    return pseudonyms?.name(.user, text)
  }
}
