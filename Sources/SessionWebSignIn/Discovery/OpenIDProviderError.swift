import Foundation
public import SessionHTTP
public import SessionKit

/// Why a provider cannot be used, or was not found.
///
/// - Requirement: LOG-17
public enum OpenIDProviderError: Error, Hashable, Sendable {
  /// The issuer is no HTTPS address, or one of this machine, without user, query and fragment.
  ///
  /// Nothing was sent.
  case invalidIssuer(String)
  /// The server was not reached, and there is no stored document.
  case unreachable(TransportError)
  /// The server answered with this status at this address.
  case refused(status: Int, address: String)
  /// The response is no document. The text says why.
  case unreadable(String, address: String)
  /// A member of the document, such as `issuer`, has another value than the expected one.
  ///
  /// `found` is `nil` if the member is missing.
  case unsuitable(member: String, expected: String, found: String?)
}

extension OpenIDProviderError: CustomStringConvertible {
  /// What happened, with both values, and what to do.
  public var description: String {
    switch self {
    case .invalidIssuer(let issuer):
      "nothing was sent: the issuer \(issuer) must be an HTTPS address, or one of this machine, "
        + "without user, query and fragment"
    case .unreachable(let error): "the provider was not reached: \(error)"
    case .refused(let status, let address):
      "the provider answered \(status) at \(address). Check the issuer"
    case .unreadable(let problem, let address):
      "the document at \(address) cannot be read: \(problem)"
    case .unsuitable("issuer", let expected, let found):
      "the document names \(found.map { "the issuer \($0)" } ?? "no issuer"), and \(expected) was asked "
        + "for. They must be equal byte by byte. Ask for the issuer that the provider states"
    case .unsuitable(let member, let expected, let found):
      "\(member) of the provider must be \(expected), and is \(found ?? "missing")"
    }
  }
}

extension OpenIDProviderError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .unreachable(let error): error.message
    case .refused(let status, _) where status >= 500 || status == 429:
      .serviceTrouble(waitSeconds: nil)
    case .invalidIssuer, .refused, .unreadable, .unsuitable: .appNotSetUp
    }
  }
}
