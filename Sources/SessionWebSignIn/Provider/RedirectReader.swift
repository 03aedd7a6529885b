import SessionCore

/// Reads the error of a failed sign-in from the text of an address.
///
/// - Requirement: WEB-2
enum RedirectReader {
  /// The maximum length of an address, in bytes.
  ///
  /// Longer addresses are not read.
  static let longest = 65_536

  /// Returns the error that an address states in its query or its fragment; `nil` if it states
  /// none.
  ///
  /// - Of several errors, `b2c_error_code` comes first, then a code within `error_description`,
  ///   then `error`.
  /// - Of several parameters with one name, the first with a code counts. The query comes before
  ///   the fragment.
  /// - An `error` that requires asking the user comes before a number without a known meaning.
  static func problem(in address: String) -> WebSignInProblem? {
    guard address.utf8.count <= longest else { return nil }
    var (codes, described, errors): (IdentityCode?, IdentityCode?, IdentityCode?)
    var isError = false
    for part in parts(of: address) {
      for field in part.split(separator: UInt8(ascii: "&")) {
        let sides = field.split(
          separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, !sides[1].isEmpty, let name = decoded(sides[0]) else { continue }
        switch name {
        case "b2c_error_code":
          codes = codes ?? decoded(sides[1]).flatMap { IdentityCode($0) }
        case "error_description":
          described = described ?? decoded(sides[1]).flatMap { IdentityCode(within: $0) }
        case "error":
          errors = errors ?? decoded(sides[1]).flatMap { IdentityCode($0) }
        default: continue
        }
        isError = true
      }
    }
    guard isError else { return nil }
    let problem = WebSignInProblem(codes ?? described ?? errors)
    // A number without a known meaning does not replace an error with one.
    if case .refused = problem, WebSignInProblem(errors) == .noAccount { return .noAccount }
    return problem
  }

  /// Returns the query, then the fragment.
  private static func parts(of address: String) -> [ArraySlice<UInt8>] {
    let bytes = Array(address.utf8)
    let sides = bytes.split(
      separator: UInt8(ascii: "#"), maxSplits: 1, omittingEmptySubsequences: false)
    let query = sides.first.flatMap { side in
      side.firstIndex(of: UInt8(ascii: "?")).map { side[side.index(after: $0)...] }
    }
    return [query, sides.count > 1 ? sides[1] : nil].compactMap { $0 }
  }

  /// Decodes a part of a form: `%` and two digits is a byte, and `+` is a space.
  ///
  /// Returns `nil` if it is malformed.
  private static func decoded(_ part: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = part
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit)
        else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
