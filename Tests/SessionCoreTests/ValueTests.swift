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
      "", "12", "user@", canonical.uppercased(), "{\(canonical)}", String(canonical.dropLast()),
      canonical + "0", "0190b2a47c1e7d3a-9f00-5a5a-5a5a5a5a-5f-",
      "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5g", "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a-f", "日本",
      "e\u{301}",
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
        .noConnection, .noReply, .noRefreshToken, .secretsUnavailable, .intercepted, .proofKeyLost,
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

@Suite("The version of the app")
struct AppVersionTests {
  @Test(
    "these texts are versions of an app",
    arguments: ["1", "2.4.1+318", "2026.11.21-rc.1", "a_b", String(repeating: "9", count: 64)])
  func good(_ text: String) throws { #expect(AppVersion(text)?.description == text) }

  @Test(
    "these texts are not versions of an app",
    arguments: [
      "", " ", "2.4.1 (318)", "é", "1\n", "1\0", "a/b", String(repeating: "9", count: 65),
    ])
  func bad(_ text: String) { #expect(AppVersion(text) == nil) }

  private func opened(_ app: AppVersion?) -> SessionRecord.Content {
    .note(.opened(.init(process: 7, boot: nil, uptime: 1, app: app)))
  }

  @Test("JRN-5 an opening is encoded in the lowest version that holds it, and both versions decode")
  func versions() throws {
    let (kind, plain) = SessionCodec.encode(opened(nil), at: SampleRecords.time)
    let (_, named) = SessionCodec.encode(opened(AppVersion("2.4")), at: SampleRecords.time)
    #expect(plain[8] == 1 && named[8] == 2)
    #expect(named.count == plain.count + 4 + 3)
    #expect(SessionCodec.version(ofKind: kind) == 5)
    let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: named)
    #expect(record.content == opened(AppVersion("2.4")))
    #expect(!record.hasUnknownFields)
    // A version 1 with a name has bytes left over; a version 2 without one is cut short.
    var older = named
    older[8] = 1
    #expect(throws: CodecError.trailingBytes(offset: plain.count, count: 7)) {
      try SessionCodec.decode(sequence: 1, kind: kind, payload: older)
    }
    var newer = plain
    newer[8] = 2
    #expect(throws: CodecError.cutShort(offset: plain.count)) {
      try SessionCodec.decode(sequence: 1, kind: kind, payload: newer)
    }
  }

  @Test("RPL-8 an opening with a platform is encoded in version 4, which an identity precedes")
  func platform() throws {
    func opened(_ identity: ProcessIdentity?, _ platform: Platform?) -> SessionNote.Opened {
      .init(process: 7, boot: nil, uptime: 1, identity: identity, platform: platform)
    }
    let identity = ProcessIdentity(opening: "opening-1")
    let (kind, older) = SessionCodec.encode(
      .note(.opened(opened(identity, nil))), at: SampleRecords.time)
    #expect(older[8] == 3)
    for byte in UInt8.min ... .max {
      let note = SessionRecord.Content.note(.opened(opened(identity, Platform(rawValue: byte))))
      let (_, payload) = SessionCodec.encode(note, at: SampleRecords.time)
      #expect(payload[8] == 4 && payload.count == older.count + 1 && payload.last == byte)
      let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
      #expect(record.content == note && !record.hasUnknownFields)
    }
    // A reader of version 3 skips the byte; without an identity there is no version to write it in.
    #expect(opened(nil, .linux) == opened(nil, nil))
    var cut = older
    cut[8] = 4
    #expect(throws: CodecError.cutShort(offset: older.count)) {
      try SessionCodec.decode(sequence: 1, kind: kind, payload: cut)
    }
  }

  @Test("RPL-10 an opening with a policy is encoded in version 5, and 255 means no platform")
  func policy() throws {
    let policy = RecordedPolicy(.clearOnRefusal)
    #expect(policy.description == "attempts=5,refused=clear")
    for (text, isGood) in [("", false), ("a.b", false), ("a=1,b=c+d-e", true), ("é", false)] {
      #expect((RecordedPolicy(text) != nil) == isGood, "\(text)")
    }
    #expect(RecordedPolicy(String(repeating: "a", count: 401)) == nil)
    let identity = ProcessIdentity(opening: "opening-1")
    for (platform, byte) in [(nil, 255), (.iOS, 1), (Platform(rawValue: .max), 255)]
      as [(Platform?, UInt8)]
    {
      let opened = SessionNote.Opened(
        process: 7, boot: nil, uptime: 1, identity: identity, platform: platform, policy: policy)
      let (kind, payload) = SessionCodec.encode(.note(.opened(opened)), at: SampleRecords.time)
      #expect(payload[8] == 5 && payload[payload.count - 29] == byte)
      let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
      #expect(record.content == .note(.opened(opened)) && !record.hasUnknownFields)
      #expect((opened.platform == nil) == (byte == 255))
    }
    let bare = SessionNote.Opened(process: 7, boot: nil, uptime: 1, policy: policy)
    #expect(bare.policy == nil)
  }

  @Test("JRN-3 an invalid name decodes as no name, and invalid UTF-8 is an error")
  func oddName() throws {
    var (kind, payload) = SessionCodec.encode(opened(AppVersion("2.4")), at: SampleRecords.time)
    payload[payload.count - 2] = UInt8(ascii: "/")
    let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
    #expect(record.content == opened(nil))
    payload[payload.count - 2] = 0xFF
    #expect(throws: CodecError.notUTF8(offset: payload.count - 3)) {
      try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
    }
  }

  @Test("kinds without a payload of this package have no version")
  func unknownKinds() {
    #expect(SessionCodec.version(ofKind: 0xEE) == nil)
    #expect(SessionCodec.version(ofKind: SessionRecord.snapshotKind) == 2)
    #expect(SessionCodec.version(ofKind: SessionEvent.Kind.login.rawValue) == 1)
  }
}

@Suite("SipHash")
struct SipHashTests {
  @Test("STO-3 SipHash-2-4-128 gives the values of its authors' table")
  func vectors() {
    let (low, high): (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
    for (length, expected) in [
      (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
      (7, "a1f1ebbed8dbc153c0b84aa61ff08239"), (8, "3b62a9ba6258f5610f83e264f31497b4"),
      (15, "5493e99933b0a8117e08ec0f97cfc3d9"), (63, "5150d1772f50834a503e069a973fbd7c"),
    ] {
      let digest = SipHash.digest(of: (0..<length).map { UInt8($0) }, low: low, high: high)
      #expect(digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
    }
  }
}

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
