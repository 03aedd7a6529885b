public import SessionKit

extension PasswordCredentials {
  /// Those of `LoopbackUser.sample`, whom the loopback and the simulated service know.
  public static let sample = PasswordCredentials(of: .sample)

  /// What this user of the loopback or the simulated service signs in with.
  public init(of user: LoopbackUser) {
    self.init(userName: user.email, password: Secret(user.password))
  }
}
