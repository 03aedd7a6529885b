/// Access to a running server's settings.
@dynamicMemberLookup
public struct LoopbackSettingsProxy: Sendable {
  let desk: LoopbackMailbox

  /// The current settings.
  public var current: LoopbackSettings { desk.read(\.settings) }

  /// Changes the settings in one step.
  ///
  /// The new settings apply to requests that the server has not acted on yet. The closure runs
  /// under the server's lock, so it must not call the server.
  public func update(_ change: (inout LoopbackSettings) -> Void) {
    desk.change { change(&$0.settings) }
  }

  /// The current value of one setting.
  public subscript<Value>(dynamicMember path: KeyPath<LoopbackSettings, Value>) -> Value {
    current[keyPath: path]
  }
}
