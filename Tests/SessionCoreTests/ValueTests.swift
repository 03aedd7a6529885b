@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Values")
struct ValueTests {
  @Test("an identifier keeps its text and is packed only if it is a canonical UUID")
  func identifiers() {
    let canonical = "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5f"
    let packed = Identifier(canonical)
    #expect(packed.uuid?.high == 0x0190_B2A4_7C1E_7D3A)
    #expect(packed.uuid?.low == 0x9F00_5A5A_5A5A_5A5F)
    #expect(packed.description == canonical)
    for text in [
      "", "12", "user@", canonical.uppercased(), "{\(canonical)}",
      String(canonical.dropLast()), canonical + "0",
      "0190b2a47c1e7d3a-9f00-5a5a-5a5a5a5a-5f-", "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5g",
      "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a-f", "日本", "e\u{301}",
    ] {
      #expect(Identifier(text).uuid == nil, "\(text)")
      #expect(Array(text.utf8).withUnsafeBufferPointer { Identifier(utf8: $0) } == Identifier(text))
      #expect(Array(Identifier(text).description.utf8) == Array(text.utf8))
    }
    // One letter in two encodings: equal for a reader, different for a server.
    #expect(Identifier("\u{E9}") != Identifier("e\u{301}"))
    #expect(Identifier("\u{E9}") == Identifier("\u{E9}"))
    #expect(Set([Identifier("\u{E9}"), Identifier("e\u{301}"), Identifier("\u{E9}")]).count == 2)
    var generator = SplitMix(seed: 5)
    for _ in 0..<2_000 {
      let id = Identifier(uuidHigh: generator.next(), low: generator.next())
      #expect(Identifier(id.description) == id)
      #expect(Array("\(id)".utf8).withUnsafeBufferPointer { Identifier(utf8: $0) } == id)
      #expect(Identifier(id.description).uuid != nil)
    }
  }

  @Test("STA-4 permissions of any length and any character are sorted by their bytes")
  func order() {
    var generator = SplitMix(seed: 8)
    let letters: [Character] = ["a", "a", "a", "b", "\0", "\u{7F}", "\u{E9}"]
    func text() -> String {
      String((0..<generator.next() % 26).map { _ in letters[Int(generator.next() % 7)] })
    }
    for _ in 0..<300 {
      let (start, count) = (text(), Int(generator.next() % 6))
      // Texts with the same beginning differ after any number of bytes.
      let texts = (0..<count).map { _ in start + text() } + [start, start + "\0"]
      let context = ActiveContext(role: .init(id: "r", name: ""), permissions: texts)
      var sorted = Set(texts.map { Array($0.utf8) }).sorted { $0.lexicographicallyPrecedes($1) }
      #expect(context.permissions.map { Array($0.utf8) } == sorted)
      sorted.shuffle(using: &generator)
      let again = ActiveContext(
        role: .init(id: "r", name: ""),
        permissions: sorted.map { String(decoding: $0, as: UTF8.self) })
      #expect(again == context)
    }
  }

  @Test("STA-4 STA-5 permissions are a sorted set, compared exactly")
  func permissions() {
    let context = ActiveContext(
      role: .init(id: "r", name: ""),
      permissions: ["b:read", "a:read", "b:read", "a:read", "c", "b:read"])
    #expect(context.permissions == ["a:read", "b:read", "c"])
    #expect(context.permits("a:read"))
    let spellings = ActiveContext(
      role: .init(id: "r", name: ""), permissions: ["\u{E9}", "z", "e\u{301}", "\u{E9}"])
    #expect(
      spellings.permissions.map { Array($0.utf8) } == [[0x65, 0xCC, 0x81], [0x7A], [0xC3, 0xA9]])
    #expect(
      !ActiveContext(role: .init(id: "r", name: ""), permissions: ["\u{E9}"]).permits("e\u{301}"))
    for other in ["a", "A:READ", "a:read ", "a:*", ""] { #expect(!context.permits(other)) }
  }

  @Test("REF-6 each failure ends a grant or not, and counts as answered or not")
  func failureKinds() {
    let final = RequestFailure.Kind.known.filter(\.isFinal)
    #expect(final == [.rejected, .noRefreshToken, .userInactive, .userDeleted, .otherUser])
    let unanswered = RequestFailure.Kind.known.filter { !$0.isAnswered }
    #expect(
      unanswered == [
        .noConnection, .noReply, .noRefreshToken, .secretsUnavailable, .intercepted,
      ])
    #expect(!RequestFailure.Kind(rawValue: 99).isFinal)
  }

  @Test("STA-2 a rejection names what was refused, the state and the reason")
  func rejections() {
    for reason in SessionRejection.Reason.allCases {
      let text = SessionRejection(state: .expired, event: .login, reason: reason).description
      #expect(text.hasPrefix("login is not possible while expired: "))
    }
  }

  @Test("LOG-1 a password is long enough if it has exactly the least number of characters")
  func passwordLength() {
    let rules = CredentialRules.emailAndPassword(minimumLength: 8)
    #expect(rules.problem(userName: "ada@example.org", password: "12345678") == nil)
    #expect(
      rules.problem(userName: "ada@example.org", password: "1234567")
        == .passwordTooShort(minimumLength: 8))
  }

  @Test("JRN-5 each cause of a storage failure has its own byte")
  func storageCauses() {
    let causes: [StorageCause] = [
      .noRoom, .refused, .busy, .replaced, .unusable, .failed, .unavailable, .newerVersion,
      .obstructed, .tooLarge, .missing, .ownerMissing, .ownerUnreadable,
    ]
    #expect(causes.map(\.rawValue) == Array(0..<13))
  }
}
