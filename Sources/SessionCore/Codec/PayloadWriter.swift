/// An encoder of the journal's little-endian encodings (`Specs/EventCodec.md`).
package struct PayloadWriter {
  package private(set) var bytes: [UInt8]

  package init(capacity: Int = 96) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  package mutating func write(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func write(_ value: Bool) {
    bytes.append(value ? 1 : 0)
  }

  package mutating func write(_ value: some OpenEnum) {
    bytes.append(value.rawValue)
  }

  package mutating func write(_ value: Timestamp) {
    write(value.milliseconds)
  }

  package mutating func write(_ value: Generation) {
    write(value.number)
  }

  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { utf8 in
      write(UInt32(clamping: utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  package mutating func write(_ id: Identifier) {
    if let (high, low) = id.uuid {
      bytes.append(1)
      write(high.byteSwapped)
      write(low.byteSwapped)
    } else {
      bytes.append(2)
      write(id.description)
    }
  }

  package mutating func write(_ id: Identifier?) {
    if let id { write(id) } else { bytes.append(0) }
  }

  /// Writes a presence byte, and the value if there is one.
  package mutating func write<Value>(
    optional value: Value?, _ writeValue: (inout PayloadWriter, Value) -> Void
  ) {
    write(value != nil)
    if let value { writeValue(&self, value) }
  }

  package mutating func append(raw: [UInt8]) {
    bytes.append(contentsOf: raw)
  }
}
