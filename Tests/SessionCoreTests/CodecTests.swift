@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("SessionCodec")
struct CodecTests {
  private func decode(_ kind: UInt8, _ payload: [UInt8]) throws(CodecError) -> SessionRecord {
    try SessionCodec.decode(sequence: 7, kind: kind, payload: payload)
  }

  @Test("a payload that is cut anywhere results in an error with its place")
  func cut() throws {
    for seed in 0..<20 as Range<UInt64> {
      let choices = Choices(seed: seed)
      for content in choices.contentOfEachKind() {
        let (kind, payload) = SessionCodec.encode(
          content, at: Generator<Timestamp>.timestamp(choices))
        // A long one has the same fields, with longer texts and lists.
        guard payload.count < 1_000 else { continue }
        guard case .unknown = content else {
          for length in payload.indices {
            #expect(throws: CodecError.self, "\(content) at \(length)") {
              try decode(kind, Array(payload[..<length]))
            }
          }
          continue
        }
        for length in 0..<8 {
          #expect(throws: CodecError.cutShort(offset: 0)) {
            try decode(kind, Array(payload[..<length]))
          }
        }
      }
    }
  }

  @Test("JRN-3 the fields of a newer version are skipped; of this version they are an error")
  func newerVersion() throws {
    for sample in SampleRecords.all {
      let (kind, payload) = SessionCodec.encode(sample.content, at: sample.time)
      if case .unknown = sample.content { continue }
      let known = try #require(SessionCodec.version(ofKind: kind))
      for version in [known + 1, known + 2, 255] {
        // The fields of all known versions come before those of a newer one.
        guard payload[8] == known else { continue }
        var newer = payload + [1, 2, 3]
        newer[8] = version
        let record = try decode(kind, newer)
        #expect(record.content == sample.content)
        #expect(record.hasUnknownFields)
      }
      #expect(throws: CodecError.trailingBytes(offset: payload.count, count: 3)) {
        try decode(kind, payload + [1, 2, 3])
      }
      var none = payload
      none[8] = 0
      #expect(throws: CodecError.invalid(offset: 8, byte: 0)) { try decode(kind, none) }
    }
  }

  @Test("JRN-3 unknown kinds and codes encode to the same bytes")
  func unknown() throws {
    for kind in UInt8.min ... .max {
      if SessionEvent.Kind(rawValue: kind) != nil || SessionNote.Kind(rawValue: kind) != nil
        || kind == SessionRecord.snapshotKind
      {
        continue
      }
      let payload: [UInt8] = [9, 0, 0, 0, 0, 0, 0, 0, 77, kind, 0xFF]
      let record = try decode(kind, payload)
      #expect(record.content == .unknown(.init(kind: kind, payload: [77, kind, 0xFF])))
      #expect(record.time == Timestamp(milliseconds: 9))
      #expect(record.name == "unknown(\(kind))")
      let again = SessionCodec.encode(record.content, at: record.time)
      #expect(again.kind == kind)
      #expect(again.payload == payload)
    }
    let newer = SessionRecord.Content.event(.logout(.init(reason: LogoutReason(rawValue: 250))))
    let (kind, payload) = SessionCodec.encode(newer, at: SampleRecords.time)
    #expect(try decode(kind, payload).content == newer)
  }

  @Test("lengths and counts of four billion neither reserve memory nor take time")
  func hugeLengths() throws {
    let (kind, payload) = SessionCodec.encode(
      .switched(ActiveContext(role: .init(id: "r", name: "n")), nil, 0), at: SampleRecords.time)
    // time 8, version 1, id tag 1, its length 4 and 1, name's length 4 and 1, two flags, the count.
    var count = payload
    count.replaceSubrange(22..<26, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(throws: CodecError.self) { try decode(kind, count) }
    var name = payload
    name.replaceSubrange(15..<19, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(throws: CodecError.cutShort(offset: 19)) { try decode(kind, name) }
    // The count says four billion empty texts; a quarter of a million are present.
    var texts = Array(payload[..<22]) + [0xFF, 0xFF, 0xFF, 0xFF]
    texts += [UInt8](repeating: 0, count: 1 << 20)
    #expect(throws: CodecError.cutShort(offset: texts.count)) {
      try decode(kind, Array(texts.prefix(26 + (1 << 20))))
    }
  }

  @Test("invalid flags, tags and texts are reported with their byte")
  func invalidFields() throws {
    let (kind, payload) = SessionCodec.encode(
      .event(.login(.init(user: "u", method: .password, token: SampleRecords.token(1)))),
      at: SampleRecords.time)
    var tag = payload
    tag[9] = 3
    #expect(throws: CodecError.invalid(offset: 9, byte: 3)) { try decode(kind, tag) }
    tag[9] = 0
    #expect(throws: CodecError.invalid(offset: 9, byte: 0)) { try decode(kind, tag) }
    var text = payload
    text[14] = 0xC3
    #expect(throws: CodecError.notUTF8(offset: 14)) { try decode(kind, text) }
    var flag = payload
    flag[flag.count - 1] = 2
    #expect(throws: CodecError.invalid(offset: payload.count - 1, byte: 2)) {
      try decode(kind, flag)
    }
  }

  @Test(
    "STO-3 POL-8 a code that could be a token or a password is recorded only as present",
    arguments: [
      "a", "secret", "Secret", "9f8a3c51d2e7", "9F8A3C51D2E7", "A12345", "A1B2C3D4E5",
      "correct-horse", "TOKEN EXPIRED", "_FOO", "4TOKEN", "token_expired_maria", "TÓKEN",
      "invalid_grant ", "rt_next", String(repeating: "A", count: 49),
    ])
  func droppedCode(code: String) {
    #expect(RequestFailure(kind: .server, serverCode: code).serverCode == "CODE_NOT_KEPT")
    #expect(RequestFailure(kind: .server, serverCode: "").serverCode == nil)
  }

  @Test(
    "POL-8 a known code is recognized in every usual spelling",
    arguments: [
      ("refresh_token_already_used", ErrorMeaning.refreshTokenReused),
      ("RefreshTokenReused", .refreshTokenReused), ("session_not_found", .sessionNotFound),
      ("token_invalid", .tokenInvalid), ("NotAuthorizedException", .tokenInvalid),
      ("TOKEN-EXPIRED", .tokenExpired), ("token.revoked", .tokenRevoked),
      ("AADB2C90129", .tokenRevoked), ("Unauthorized", .unspecified),
    ])
  func spellings(code: String, meaning: ErrorMeaning) {
    #expect(ErrorMeaning(code: code) == meaning)
    #expect(RequestFailure(kind: .rejected, serverCode: code).serverCode == code)
  }

  @Test("POL-8 each known code has one meaning")
  func oneMeaning() {
    for (meaning, codes) in ErrorMeaning.codes {
      for code in codes { #expect(ErrorMeaning(code: code) == meaning, "\(code)") }
    }
    #expect(Set(ErrorMeaning.codes.map(\.meaning)) == Set(ErrorMeaning.known))
  }

  @Test(
    "STO-3 a valid code is kept and decodes unchanged",
    arguments: [
      "A", "E1234", "TOKEN_EXPIRED", "DB_", String(repeating: "A", count: 48), "invalid_grant",
      "slow_down", "login_required", "Invalid_grant", "token_not_valid",
    ])
  func keptCode(code: String) throws {
    let failure = RequestFailure(kind: .rejected, status: 401, serverCode: code)
    #expect(failure.serverCode == code)
    try expectUnchanged(failure)
  }

  @Test("JRN-5 a code that an older version kept is decoded and encoded unchanged")
  func olderCode() throws {
    let codes = ["token_expired", "E12345", "auth.token-old", String(repeating: "a", count: 64)]
    for code in codes {
      try expectUnchanged(
        RequestFailure(kind: .rejected, status: 401, recordedCode: code, retryAfter: 5))
    }
  }

  private func expectUnchanged(_ failure: RequestFailure) throws {
    let note = SessionRecord.Content.note(.requestEnded(.init(request: 1, failure: failure)))
    let (kind, payload) = SessionCodec.encode(note, at: SampleRecords.time)
    if let code = failure.serverCode {
      #expect(payload.indices.contains { payload[$0...].starts(with: code.utf8) })
    }
    #expect(try decode(kind, payload).content == note)
  }

  @Test("STO-3 a server's code of another form is dropped, also when it is decoded")
  func serverCode() throws {
    let failure = RequestFailure(kind: .rejected, status: 401, serverCode: "SECRET")
    let note = SessionNote.requestEnded(.init(request: 1, failure: failure))
    var (kind, payload) = SessionCodec.encode(.note(note), at: SampleRecords.time)
    let place = try #require(payload.firstIndex(of: UInt8(ascii: "S")))
    payload[place] = UInt8(ascii: "@")
    guard case .note(.requestEnded(let ended)) = try decode(kind, payload).content else {
      Issue.record("not a requestEnded")
      return
    }
    #expect(ended.failure == RequestFailure(kind: .rejected, status: 401))
    #expect(RequestFailure(kind: .server, retryAfter: .seconds(-5)).retryAfter == .zero)
    #expect(
      RequestFailure(kind: .server, retryAfter: .nanoseconds(1)).retryAfter == .milliseconds(1))
  }
}
