/// The place of a token in a request.
///
/// It is never in an address.
///
/// - Requirement: STO-3
public enum TokenLocation: Hashable, Sendable {
  /// The token is not sent.
  case nowhere
  /// The field `Authorization: Bearer …` (RFC 6750 §2.1).
  case bearer
  /// A member of the body with this name.
  ///
  /// It is not sent if the request has no body.
  case member(String)
  /// A header field with this name, whose value is the token alone.
  case header(String)
}
