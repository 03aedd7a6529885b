@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("PayloadWriter")
struct PayloadWriterTests {
  @Test(
    "an identifier is written the same from its bytes and from its value",
    arguments: [
      "", "user-1", "48298618-0022-8114-a10e-e72f11eccc66", "48298618-0022-8114-A10E-e72f11eccc66",
      "48298618-0022-8114-a10e-e72f11eccc6g", "48298618-0022-8114-a10ee-72f11eccc66", "Zoë",
    ])
  func identifier(text: String) {
    var (fromBytes, fromValue) = (PayloadWriter(), PayloadWriter())
    fromValue.write(Identifier(text))
    Array(text.utf8).withUnsafeBufferPointer { fromBytes.write(identifier: $0) }
    #expect(fromBytes.bytes == fromValue.bytes)
  }

  @Test(
    "values are written the same wherever the memory ends",
    arguments: Array(0...9) + Array(80...97) + Array(170...193) + [5_000])
  func memory(before: Int) {
    let old = (0..<before).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let values: [UInt8] =
      [1, 0xFE, 0xFF, 3, 0, 0, 0, 0xFC] + [UInt8](repeating: 0xFF, count: 7) + [1, 4, 0, 0, 0]
      + Array("five".utf8)
    for (capacity, discards) in [(0, false), (0, true), (before, false), (200, true)] {
      var writer = PayloadWriter(capacity: capacity)
      writer.append(raw: old)
      #expect(writer.bytes == old)
      if discards { writer.removeAll() }
      writer.write(UInt8(1))
      writer.write(Int16(-2))
      writer.write(UInt32(3))
      writer.write(Int64(-4))
      writer.write(true)
      writer.write("five")
      let all = (discards ? [] : old) + values
      #expect(writer.bytes == all && writer.count == all.count)
      #expect(writer.finished() == all)
    }
  }

  @Test("a value is replaced in its place, and no byte beside it")
  func replaced() {
    var writer = PayloadWriter()
    writer.write(UInt8(9))
    writer.write(UInt32(0))
    writer.write(UInt8(9))
    writer.replace(0x0102_0304, at: 1)
    #expect(writer.bytes == [9, 4, 3, 2, 1, 9])
  }
}
