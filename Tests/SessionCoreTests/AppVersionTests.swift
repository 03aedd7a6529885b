@_spi(Internals) import SessionCore
import Testing

@Suite("The version of the app")
struct AppVersionTests {
  @Test(
    "these texts are versions of an app",
    arguments: [
      "1", "2.4.1+318", "2026.11.21-rc.1", "a_b", String(repeating: "9", count: 64),
    ])
  func good(_ text: String) throws {
    #expect(AppVersion(text)?.description == text)
  }

  @Test(
    "these texts are not versions of an app",
    arguments: [
      "", " ", "2.4.1 (318)", "é", "1\n", "1\0", "a/b", String(repeating: "9", count: 65),
    ])
  func bad(_ text: String) {
    #expect(AppVersion(text) == nil)
  }

  private func opened(_ app: AppVersion?) -> SessionRecord.Content {
    .note(.opened(.init(process: 7, boot: nil, uptime: 1, app: app)))
  }

  @Test("JRN-5 an opening is encoded in the lowest version that holds it, and both versions decode")
  func versions() throws {
    let (kind, plain) = SessionCodec.encode(opened(nil), at: SampleRecords.time)
    let (_, named) = SessionCodec.encode(opened(AppVersion("2.4")), at: SampleRecords.time)
    #expect(plain[8] == 1 && named[8] == 2)
    #expect(named.count == plain.count + 4 + 3)
    #expect(SessionCodec.version(ofKind: kind) == 4)
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
      let note = SessionRecord.Content.note(
        .opened(opened(identity, Platform(rawValue: byte))))
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
