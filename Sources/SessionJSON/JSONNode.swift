/// A JSON value that was read: its place in the text, or the value itself.
///
/// A response has more members than are used. So texts are made only of those that are asked for.
package enum JSONNode: Sendable {
  case part(JSONPart)
  case value(JSONValue)

  /// The value.
  package var value: JSONValue {
    switch self {
    case .part(let part): part.value
    case .value(let value): value
    }
  }

  /// The text; `nil` if it is another value.
  package var text: String? {
    switch self {
    case .part(let part): part.text
    case .value(.string(let text)): text
    case .value: nil
    }
  }

  /// What a path can lead through.
  package enum Kind {
    case object, array, null, other
  }

  package var kind: Kind {
    switch self {
    case .part(let part):
      switch part.kind {
      case .object: .object
      case .array: .array
      case .null: .null
      default: .other
      }
    case .value(.object): .object
    case .value(.array): .array
    case .value(.null): .null
    case .value: .other
    }
  }

  /// Returns the member of an object; `nil` if there is none, or if the value is another one.
  ///
  /// If Unicode calls several names equivalent to this one, the last of them counts.
  package func member(_ name: String) -> JSONNode? {
    switch self {
    case .part(let part): part.member(name).map(JSONNode.part)
    case .value(.object(let members)): members[name].map(JSONNode.value)
    case .value: nil
    }
  }

  /// Returns the element of an array; `nil` if there is none, or if the value is another one.
  package func element(_ index: Int) -> JSONNode? {
    switch self {
    case .part(let part):
      let elements = part.elements
      return elements.indices.contains(index) ? .part(elements[index]) : nil
    case .value(.array(let elements)):
      return elements.indices.contains(index) ? .value(elements[index]) : nil
    case .value: return nil
    }
  }
}

extension JSONPart {
  /// Returns the member of an object with this name.
  fileprivate func member(_ name: String) -> JSONPart? {
    guard kind == .object else { return nil }
    return tape.member(name, of: index).map { JSONPart(tape: tape, index: $0) }
  }

  /// The value, with all that is in it.
  fileprivate var value: JSONValue {
    switch kind {
    case .null: return .null
    case .yes: return .bool(true)
    case .no: return .bool(false)
    case .number: return .number(JSONNumber(checked: spelling))
    case .text: return .string(text ?? "")
    case .array: return .array(elements.map(\.value))
    case .object:
      let entries = tape.entries
      var (key, members) = (index + 1, [String: JSONValue]())
      while key < entries[index].next {
        members[tape.text(of: entries[key])] = JSONPart(tape: tape, index: key + 1).value
        key = entries[key + 1].next
      }
      return .object(members)
    }
  }
}
