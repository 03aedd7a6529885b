import Foundation
public import SessionCore

/// A whole kind of app as one value: how its backend is spoken to, and what it does when they
/// disagree (POL).
///
/// A preset is a starting point: each part can be changed before a configuration is made of it.
/// `Specs/Presets.md` shows them all, with what they send.
public struct SessionPreset: Sendable {
  /// A name for people; printed, never compared.
  public var name: String
  /// How the backend is spoken to.
  public var wire: HTTPBackend
  /// When a token is refreshed, what ends the session, and what a login must pass.
  public var policy: SessionPolicy
  /// What modules above SessionKit keep with it, and with a configuration that is made of it.
  package var attached = AttachedValues()

  /// A preset.
  public init(name: String, wire: HTTPBackend, policy: SessionPolicy) {
    self.name = name
    self.wire = wire
    self.policy = policy
  }
}

extension SessionPreset: CustomStringConvertible {
  /// The name and the host.
  public var description: String { "\(name), \(wire)" }
}

extension SessionConfiguration {
  /// A configuration of a preset; what is not named is the system's.
  public init(
    journal: String, secrets: any SecretStore, preset: SessionPreset,
    transport: any HTTPTransport = URLSessionTransport(),
    clock: any SessionClock = SystemClock(),
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    self.init(
      journal: journal, secrets: secrets, wire: preset.wire, policy: preset.policy,
      transport: transport, clock: clock, retention: retention)
    attached = preset.attached
  }
}
