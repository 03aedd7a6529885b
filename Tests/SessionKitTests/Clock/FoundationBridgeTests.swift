import Foundation
import SessionKit
import Testing

@Suite("Identifiers and timestamps with Foundation's types")
struct FoundationBridgeTests {
  @Test("STA-4 an identifier from a UUID equals the one from its text in lower case")
  func uuid() throws {
    let text = "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5b"
    let uuid = try #require(UUID(uuidString: text))
    #expect(Identifier(uuid) == Identifier(text))
    #expect("\(Identifier(uuid))" == text)
    #expect(Identifier(uuid) != Identifier(text.uppercased()))
  }

  @Test(
    "STA-4 an identifier is written as one JSON string and read back byte for byte",
    arguments: [
      "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5b", "0190B2A4-7C1E-7D3A-9F00-5A5A5A5A5A5B", "",
      "school-7",
      "caf\u{E9}", "cafe\u{301}", "a\u{0}b", "\u{1F600}",
    ])
  func codable(text: String) throws {
    let data = try JSONEncoder().encode([Identifier(text)])
    let back = try JSONDecoder().decode([Identifier].self, from: data)
    #expect(back == [Identifier(text)])
    #expect(back.first?.description.utf8.elementsEqual(text.utf8) == true)
    #expect(try JSONDecoder().decode([String].self, from: data) == [text])
  }

  @Test(
    "STA-4 JSON that is no UTF-8 string is refused as an identifier with a DecodingError",
    arguments: ["[7]", "[null]", "[{}]"].map { Array($0.utf8) } + [[0x5B, 0x22, 0xFF, 0x22, 0x5D]])
  func refused(bytes: [UInt8]) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([Identifier].self, from: Data(bytes))
    }
  }

  @Test("STA-4 a date is rounded to the nearest millisecond")
  func rounding() {
    #expect(Timestamp(Date(timeIntervalSince1970: 1.0004)) == Timestamp(milliseconds: 1_000))
    #expect(Timestamp(Date(timeIntervalSince1970: 1.0006)) == Timestamp(milliseconds: 1_001))
    #expect(Timestamp(Date(timeIntervalSince1970: -1.0006)) == Timestamp(milliseconds: -1_001))
  }

  @Test("STA-4 a date out of range becomes the nearest bound, and a date that is NaN the earliest")
  func bounds() {
    #expect(Timestamp(Date(timeIntervalSince1970: 1e300)) == Timestamp(milliseconds: .max))
    #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == Timestamp(milliseconds: .max))
    #expect(Timestamp(Date(timeIntervalSince1970: -1e300)) == Timestamp(milliseconds: .min))
    #expect(Timestamp(Date(timeIntervalSince1970: -.infinity)) == Timestamp(milliseconds: .min))
    #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == Timestamp(milliseconds: .min))
  }

  @Test("STA-4 a timestamp from the year 0 to 9999 survives the conversion to a date and back")
  func roundTrip() {
    let (first, last): (Int64, Int64) = (-62_167_219_200_000, 253_402_300_799_999)
    var generator = SystemRandomNumberGenerator()
    let drawn = (0..<2_000).map { _ in Int64.random(in: first...last, using: &generator) }
    for milliseconds in [first, -1, 0, 1, 1_767_225_600_001, last] + drawn {
      let timestamp = Timestamp(milliseconds: milliseconds)
      #expect(Timestamp(Date(timestamp)) == timestamp)
    }
    #expect(Date(Timestamp(milliseconds: 1_500)) == Date(timeIntervalSince1970: 1.5))
  }
}
