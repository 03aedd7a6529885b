@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/EventCodec.md")
struct EventCodecSpecTests {
  @Test("JRN-5 the page and the code have the same kinds")
  func kinds() throws {
    var found: [String: String] = [:]
    for row in try SpecFile("Specs/EventCodec.md").table(under: "Kinds") {
      let byte = try #require(row["byte"])
      #expect(found[byte] == nil, "\(byte) twice")
      found[byte] = "\(row["class"] ?? "") \(row["name"] ?? "")"
    }
    var expected: [String: String] = [:]
    for kind in SessionEvent.Kind.allCases { expected[hex(kind.rawValue)] = "event \(kind)" }
    for kind in SessionNote.Kind.allCases { expected[hex(kind.rawValue)] = "note \(kind)" }
    expected[hex(SessionRecord.snapshotKind)] = "snapshot snapshot"
    #expect(found == expected)
    #expect(SessionNote.Kind.allCases.allSatisfy { $0.rawValue & 0x80 != 0 })
    #expect(SessionEvent.Kind.allCases.allSatisfy { $0.rawValue & 0x80 == 0 })
  }

  @Test("JRN-5 the page and the code have the same words for the same bytes")
  func codes() throws {
    let types: [String: any OpenEnum.Type] = [
      "login method": LoginMethod.self, "refresh trigger": RefreshTrigger.self,
      "switch trigger": SwitchTrigger.self, "expiry reason": ExpiryReason.self,
      "logout reason": LogoutReason.self, "request kind": RequestKind.self,
      "revocation outcome": RevocationOutcome.self, "secret item": SecretItem.self,
      "wipe cause": SessionNote.WipeCause.self, "failure kind": RequestFailure.Kind.self,
      "continuation cause": SessionNote.ContinuationCause.self,
      "storage operation": StorageOperation.self, "storage cause": StorageCause.self,
      "error meaning": ErrorMeaning.self, "platform": Platform.self,
    ]
    let page = try SpecFile("Specs/EventCodec.md")
    let start = try #require(page.lines.firstIndex(of: "## Codes"))
    let headings = page.lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("### ") }.map { String($0.dropFirst(4)) }
    #expect(headings.sorted() == types.keys.sorted())
    for (heading, type) in types {
      let rows = page.table(under: heading)
      #expect(rows.map { $0["word"] } == type.words, "\(heading)")
      #expect(rows.map { $0["byte"] } == type.words.indices.map(String.init), "\(heading)")
    }
  }

  @Test("JRN-3 codes have a word or keep their number")
  func codeWords() {
    for code in ExpiryReason.known { #expect(ExpiryReason(word: code.description) == code) }
    for byte in UInt8.min ... .max {
      let code = RevocationOutcome(rawValue: byte)
      #expect(code.rawValue == byte)
      #expect(RevocationOutcome(word: code.description) == code)
    }
    #expect(RevocationOutcome(rawValue: 5).description == "unknown(5)")
    for text in ["", "Revoked", "unknown(3)", "unknown(256)", "unknown(-1)", "unknown(4", "4"] {
      #expect(RevocationOutcome(word: text) == nil, "\(text)")
    }
  }

  private func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return "0x" + (digits.count < 2 ? "0" : "") + digits
  }
}
