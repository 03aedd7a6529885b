public import SessionKit

extension Credential {
  /// Those of `LoopbackUser.sample`, whom the loopback and the simulated service know.
  public static let sample = Credential.password(of: .sample)

  /// What this user of the loopback or the simulated service logs in with.
  public static func password(of user: LoopbackUser) -> Credential {
    .password(user.email, user.password)
  }
}
