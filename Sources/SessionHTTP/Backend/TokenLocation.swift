/// Where a token rides in a request; never in an address.
///
/// - Requirement: STO-3
public enum TokenLocation: Hashable, Sendable {
  /// It is not sent.
  case nowhere
  /// `Authorization: Bearer …` (RFC 6750 §2.1).
  case bearer
  /// A member of the body with this name; nowhere where the request has no body.
  case member(String)
  /// A header field with this name, whose value is the token alone.
  case header(String)
}
