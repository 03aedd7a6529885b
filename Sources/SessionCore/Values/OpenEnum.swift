/// A code of the journal's vocabulary, which is written as one byte.
///
/// The set is open. A byte that a newer version wrote and this version does not know is kept
/// unchanged. It equals itself and is shown as `unknown(n)`.
///
/// - Requirement: JRN-3
@_spi(Internals)
public protocol OpenEnum: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue == UInt8 {
  // An enum with a case `unknown(UInt8)` was rejected. It needs three switches for each type, and
  // `unknown(1)` and the case for 1 would be two values with one meaning. The price is a `default`
  // in each `switch` over a reason, which every set that grows has. Events, notes and states are
  // enums nevertheless, since every decision about them must be complete.

  /// The name of each byte, from 0; only ever appended to.
  static var words: [String] { get }

  /// Creates the code with this byte, known or not.
  init(rawValue: UInt8)
}

@_spi(Internals) extension OpenEnum {
  /// All codes that this version has a name for.
  public static var known: [Self] {
    words.indices.map { Self(rawValue: UInt8($0)) }
  }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The name, or `unknown(n)`.
  public var word: String {
    let words = Self.words
    return Int(rawValue) < words.count ? words[Int(rawValue)] : "unknown(\(rawValue))"
  }

  /// Creates the code with this name or of the form `unknown(n)`; `nil` for any other text.
  public init?(word: String) {
    if let index = Self.words.firstIndex(of: word) {
      self.init(rawValue: UInt8(index))
    } else if word.hasPrefix("unknown("), word.hasSuffix(")"),
      let number = UInt8(word.dropFirst(8).dropLast()), Int(number) >= Self.words.count
    {
      self.init(rawValue: number)
    } else {
      return nil
    }
  }
}
