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
      "lock reason": SessionNote.LockReason.self,
      "wipe cause": SessionNote.WipeCause.self, "failure kind": RequestFailure.Kind.self,
      "continuation cause": SessionNote.ContinuationCause.self,
      "storage operation": StorageOperation.self, "storage cause": StorageCause.self,
      "error meaning": ErrorMeaning.self, "platform": Platform.self,
    ]
    let rows = try SpecFile("Specs/EventCodec.md").table(under: "Codes")
    #expect(rows.compactMap { $0["code"] }.sorted() == types.keys.sorted())
    for row in rows {
      let words = try #require(types[row["code"] ?? ""]).words
      let expected = words.enumerated().map { "\($0) \($1)" }.joined(separator: ", ")
      #expect(row["byte and word of each"] == expected)
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
