/// Values of modules above SessionKit that a configuration or a preset carries, at most one of each
/// type.
///
/// SessionKit does not know the types. A session has the values of the configuration that opened
/// it.
package struct AttachedValues: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates a collection without values.
  package init() {}

  /// The value of this type; `nil` if there is none.
  package subscript<Value: Sendable>(_ type: Value.Type) -> Value? {
    get { values[ObjectIdentifier(type)] as? Value }
    set { values[ObjectIdentifier(type)] = newValue }
  }
}
