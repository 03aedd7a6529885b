/// A word of the journal's vocabulary that is written as one byte.
///
/// The set of words is open: a byte that this version has no word for, written by a newer one, is
/// kept as it is, compares equal to itself and is shown as `unknown(n)`.
///
/// - Requirement: JRN-3
@_spi(Internals)
public protocol OpenEnum: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue == UInt8 {
  /// The word for each byte, from 0. Only ever appended to.
  static var words: [String] { get }

  /// The code with this byte, known or not.
  init(rawValue: UInt8)
}

@_spi(Internals) extension OpenEnum {
  /// Every code that this version has a word for.
  public static var known: [Self] {
    words.indices.map { Self(rawValue: UInt8($0)) }
  }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The word, or `unknown(n)`.
  public var word: String {
    let words = Self.words
    return Int(rawValue) < words.count ? words[Int(rawValue)] : "unknown(\(rawValue))"
  }

  /// The code with this word or of the form `unknown(n)`; `nil` for any other text.
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
