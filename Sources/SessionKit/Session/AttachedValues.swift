/// Values that modules above SessionKit keep with a configuration or a preset, one of each type.
///
/// SessionKit does not know the types. A session that is opened with the configuration keeps them.
package struct AttachedValues: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// No value.
  package init() {}

  /// The value of a type; `nil` if there is none.
  package subscript<Value: Sendable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)] as? Value }
    set { values[ObjectIdentifier(type)] = newValue }
  }
}
