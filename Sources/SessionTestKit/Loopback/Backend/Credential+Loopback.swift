public import SessionKit

extension Credential {
  /// The credential of `LoopbackUser.sample`, a user of the loopback server and the simulated
  /// server.
  public static let sample = Credential.password(of: .sample)

  /// Returns the credential of a user of the loopback server or the simulated server.
  public static func password(of user: LoopbackUser) -> Credential {
    .password(user.email, user.password)
  }
}
