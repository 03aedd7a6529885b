/// The token of another service that a user signs in with (LOG-5); shown without it (STO-3).
public struct SocialCredentials: Hashable, Sendable {
  /// The other service, by the backend's name for it, such as `google`.
  public let provider: String
  /// Its token.
  public let token: Secret

  /// Credentials.
  public init(provider: String, token: Secret) {
    self.provider = provider
    self.token = token
  }
}

extension SocialCredentials: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The other service, and no token.
  public var description: String { "<redacted> of \(provider)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
