import Foundation
import SessionJSON

/// The fields of a stored item, or of a part of it, as one list.
///
/// A pass visits the list: one writes JSON, and one reads it. So no second list must be kept the
/// same.
protocol ItemFields: ItemValue {
  // `Codable` made these lists before. Its coders took a quarter of the time of a session without a
  // disk, since items are read before most commits.

  /// Creates fields without values, for a pass that reads them.
  init()

  /// Shows each field to the pass, with the name that it has in JSON.
  ///
  /// The names are sorted, so that the JSON is.
  mutating func visit(_ pass: inout some ItemPass)
}

/// What is done with each field of a list.
protocol ItemPass {
  /// Visits a field that every version writes.
  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value)

  /// Visits a field that may be missing.
  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value?)
}

/// A value in the JSON of a stored item.
protocol ItemValue {
  /// Reads the value; `nil` if the part has another type.
  init?(_ part: JSONPart)

  func write(to writer: inout JSONWriter)
}

// MARK: The passes

/// Writes the fields that have a value.
extension JSONWriter: ItemPass {
  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value) {
    member(name, value.write)
  }

  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value?) {
    if let value { member(name, value.write) }
  }
}

/// Reads fields by name; all others are ignored.
struct ItemReader: ItemPass {
  private var members: JSONPart.Members
  /// Whether a field is missing or has the wrong type.
  private(set) var isFlawed = false

  /// Creates the reader of an object; `nil` if the part is another value.
  init?(_ part: JSONPart) {
    guard let members = JSONPart.Members(part) else { return nil }
    self.members = members
  }

  /// Creates the reader of the outermost object; `nil` if the bytes are not JSON with an object.
  init?(_ bytes: [UInt8]) {
    var tape = JSONTape()
    do { try tape.read(bytes[...]) } catch { return nil }
    self.init(tape.root)
  }

  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value) {
    guard let read = members.find(name).flatMap({ Value($0.value) }) else {
      isFlawed = true
      return
    }
    value = read
  }

  mutating func field<Value: ItemValue>(_ name: StaticString, _ value: inout Value?) {
    value = nil
    guard let found = members.find(name)?.value, found.kind != .null else { return }
    value = Value(found)
    if value == nil { isFlawed = true }
  }
}

// MARK: The values

extension ItemFields {
  init?(_ part: JSONPart) {
    guard var reader = ItemReader(part) else { return nil }
    self.init()
    visit(&reader)
    if reader.isFlawed { return nil }
  }

  func write(to writer: inout JSONWriter) {
    writer.object { inner in
      var fields = self
      fields.visit(&inner)
    }
  }
}

extension String: ItemValue {
  init?(_ part: JSONPart) {
    guard let text = part.text else { return nil }
    self = text
  }

  func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Bool: ItemValue {
  init?(_ part: JSONPart) {
    switch part.kind {
    case .yes: self = true
    case .no: self = false
    default: return nil
    }
  }

  func write(to writer: inout JSONWriter) { writer.value(JSONValue.bool(self)) }
}

extension ItemValue where Self: FixedWidthInteger {
  init?(_ part: JSONPart) {
    guard let number = part.integer(Self.self) else { return nil }
    self = number
  }

  func write(to writer: inout JSONWriter) { writer.value(self) }
}

extension Int: ItemValue {}
extension Int64: ItemValue {}
extension UInt64: ItemValue {}
extension UInt8: ItemValue {}

/// Bytes are written as base64 (RFC 4648 §4).
extension Data: ItemValue {
  init?(_ part: JSONPart) {
    guard let bytes = part.text.flatMap({ Data(base64Encoded: $0) }) else { return nil }
    self = bytes
  }

  func write(to writer: inout JSONWriter) { writer.value(base64EncodedString()) }
}

extension Array: ItemValue where Element: ItemValue {
  init?(_ part: JSONPart) {
    guard part.kind == .array else { return nil }
    let parts = part.elements
    self = parts.compactMap(Element.init)
    if count < parts.count { return nil }
  }

  func write(to writer: inout JSONWriter) {
    writer.array(self) { $1.write(to: &$0) }
  }
}

extension [String: String]: ItemValue {
  init?(_ part: JSONPart) {
    guard var members = JSONPart.Members(part) else { return nil }
    self = [:]
    for key in members.keys {
      guard let text = members.find(key)?.value.text else { return nil }
      self[key] = text
    }
  }

  func write(to writer: inout JSONWriter) {
    writer.value(JSONValue.object(mapValues(JSONValue.string)))
  }
}
