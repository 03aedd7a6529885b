/// An optional value that is absent nearly always.
///
/// An object with this property has no room for the value, only a reference. That counts if a process
/// has ten thousand of the object.
///
/// - Requirement: SCL-2
@propertyWrapper
struct Rare<Value: Sendable>: Sendable {
  // A heap profile of 400 sessions showed it: the engine's object had 7 KiB, most of it room for
  // errors and tokens that are nearly always absent.
  private indirect enum Place {
    case empty
    case holding(Value)
  }

  private var place = Place.empty

  init() {}

  init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  var wrappedValue: Value? {
    get {
      if case .holding(let value) = place { value } else { nil }
    }
    set { place = newValue.map(Place.holding) ?? .empty }
  }
}
