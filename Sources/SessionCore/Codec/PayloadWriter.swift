/// An encoder of the journal's little-endian encodings (`Specs/EventCodec.md`).
///
/// A writer that is used again keeps its memory. The method for integers is inlinable, since other
/// modules write many of them.
@usableFromInline
package struct PayloadWriter {
  /// Memory for the payload, of which the first `count` bytes are written.
  private var memory: [UInt8]
  /// The number of bytes that were written.
  package private(set) var count = 0

  /// The usual memory of a new writer.
  private static let firstMemory = [UInt8](repeating: 0, count: 96)

  /// Creates a writer for a payload of about that many bytes.
  package init(capacity: Int = 0) {
    let first = Self.firstMemory
    memory = capacity > first.count ? [UInt8](repeating: 0, count: capacity) : first
  }

  /// A copy of the bytes that were written.
  package var bytes: [UInt8] { Array(memory[..<count]) }

  /// Returns the bytes that were written, without a copy.
  package consuming func finished() -> [UInt8] {
    memory.removeLast(memory.count - count)
    return memory
  }

  /// Discards the bytes and keeps the memory.
  package mutating func removeAll() { count = 0 }

  /// Writes an integer of at most 64 bits.
  @inlinable
  package mutating func write<Value: FixedWidthInteger>(_ value: Value) {
    precondition(MemoryLayout<Value>.size <= MemoryLayout<UInt64>.size)
    write(UInt64(truncatingIfNeeded: value), size: MemoryLayout<Value>.size)
  }

  /// Writes the lowest bytes of a word.
  @usableFromInline
  mutating func write(_ word: UInt64, size: Int) {
    // All eight bytes are stored; those above `size` are not counted.
    reserve(MemoryLayout<UInt64>.size)
    memory.withUnsafeMutableBytes {
      $0.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
    }
    count += size
  }

  package mutating func write(_ value: Bool) {
    write(value ? 1 : 0, size: 1)
  }

  package mutating func write(_ value: some OpenEnum) {
    write(value.rawValue)
  }

  package mutating func write(_ value: Timestamp) {
    write(value.milliseconds)
  }

  package mutating func write(_ value: Generation) {
    write(value.number)
  }

  package mutating func write(_ text: String) {
    var text = text
    text.withUTF8 { write(text: $0) }
  }

  /// Writes a text with these bytes, which must be UTF-8.
  package mutating func write(text utf8: UnsafeBufferPointer<UInt8>) {
    write(UInt32(clamping: utf8.count))
    append(UnsafeRawBufferPointer(utf8))
  }

  package mutating func write(_ id: Identifier) {
    if let (high, low) = id.uuid {
      write(uuid: high, low)
    } else {
      write(UInt8(2))
      write(id.description)
    }
  }

  /// Writes the identifier with this spelling, which must be UTF-8, and makes no text of it.
  package mutating func write(identifier utf8: UnsafeBufferPointer<UInt8>) {
    if let (high, low) = Identifier.parseUUID(utf8) {
      write(uuid: high, low)
    } else {
      write(UInt8(2))
      write(text: utf8)
    }
  }

  private mutating func write(uuid high: UInt64, _ low: UInt64) {
    write(UInt8(1))
    write(high.byteSwapped)
    write(low.byteSwapped)
  }

  package mutating func write(_ id: Identifier?) {
    if let id { write(id) } else { write(UInt8(0)) }
  }

  /// Writes a presence byte, and the value if there is one.
  package mutating func write<Value>(
    optional value: Value?, _ writeValue: (inout PayloadWriter, Value) -> Void
  ) {
    write(value != nil)
    if let value { writeValue(&self, value) }
  }

  package mutating func append(raw: [UInt8]) {
    raw.withUnsafeBytes { append($0) }
  }

  /// Replaces the number of a list, which was written at `offset` before its elements.
  package mutating func replace(_ number: UInt32, at offset: Int) {
    replace(at: offset, by: number.littleEndian)
  }

  private mutating func replace<Value: BitwiseCopyable>(at offset: Int, by value: Value) {
    assert(offset + MemoryLayout<Value>.size <= count)
    memory.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: Value.self) }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    memory.withUnsafeMutableBytes {
      UnsafeMutableRawBufferPointer(rebasing: $0[count...]).copyMemory(from: bytes)
    }
    count += bytes.count
  }

  /// Makes room for more bytes.
  @inline(__always)
  private mutating func reserve(_ more: Int) {
    if memory.count - count < more { grow(by: more) }
  }

  /// Doubles the memory by copying it; a debug build would make a call for each zero.
  @inline(never)
  private mutating func grow(by more: Int) {
    while memory.count - count < more { memory += memory }
  }
}
