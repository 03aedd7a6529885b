/// The way to a running server's settings: reads them, and changes them in one piece.
@dynamicMemberLookup
public struct LoopbackSettingsProxy: Sendable {
  let desk: LoopbackMailbox

  /// The settings as they stand.
  public var current: LoopbackSettings { desk.read(\.settings) }

  /// Changes the settings; requests that come later, or have not acted yet, go by the new ones.
  ///
  /// The closure runs under the server's lock: it must not call the server.
  public func update(_ change: (inout LoopbackSettings) -> Void) {
    desk.change { change(&$0.settings) }
  }

  /// One setting as it stands.
  public subscript<Value>(dynamicMember path: KeyPath<LoopbackSettings, Value>) -> Value {
    current[keyPath: path]
  }
}
