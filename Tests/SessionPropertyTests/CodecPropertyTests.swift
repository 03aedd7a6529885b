@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("Properties of the codec")
struct CodecPropertyTests {
  @Test("P1 JRN-5 every encoded record decodes to an equal one and encodes to the same bytes")
  func identity() {
    expect(
      Property(
        "P1 what is encoded is decoded to the same", cases: 400, regressions: RegressionFolder()
      ).check { choices in
        let record = Generator<SessionRecord>.record(choices)
        choices.step(record.line)
        let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        let decoded = try SessionCodec.decode(
          sequence: record.sequence, kind: kind, payload: payload)
        try choices.require(decoded == record, "decoded \(decoded.line)")
        let again = SessionCodec.encode(decoded.content, at: decoded.time)
        try choices.require(again == (kind, payload), "encoded to other bytes")
      })
  }

  @Test("P2 JRN-2 random bytes decode or are an error, and decoded records are stable")
  func noise() {
    expect(
      Property(
        "P2 random bytes decode or are an error", cases: 1_000, regressions: RegressionFolder()
      ).check { choices in
        let kind = UInt8(choices.draw(below: 256))
        let payload = Generator<[UInt8]>.noise(choices)
        choices.step("kind \(kind), \(payload)")
        try stable(kind, payload, choices)
      })
  }

  @Test("P3 JRN-2 a payload with a changed, missing or additional byte decodes or is an error")
  func damage() {
    expect(
      Property(
        "P3 a damaged payload decodes or is an error", cases: 600, regressions: RegressionFolder()
      ).check { choices in
        let record = Generator<SessionRecord>.record(choices)
        var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        let place = choices.draw(in: 0...payload.count - 1)
        switch choices.draw(below: 3) {
        case 0: payload[place] ^= UInt8(choices.draw(in: 1...255))
        case 1: payload.removeSubrange(place...)
        default: payload.append(UInt8(choices.draw(below: 256)))
        }
        if choices.chance(1, in: 8) { kind = UInt8(choices.draw(below: 256)) }
        choices.step("\(record.line), damaged at \(place): kind \(kind), \(payload)")
        try stable(kind, payload, choices)
      })
  }

  @Test("P4 JRN-3 a kind that this version does not know is kept byte for byte")
  func unknown() {
    expect(
      Property(
        "P4 an unknown kind survives byte for byte", cases: 200, regressions: RegressionFolder()
      ).check { choices in
        let kinds = (0...UInt8.max).filter {
          SessionEvent.Kind(rawValue: $0) == nil && SessionNote.Kind(rawValue: $0) == nil
            && $0 != SessionRecord.snapshotKind
        }
        let kind = choices.pick(kinds) ?? 0
        let payload = [UInt8](repeating: 0, count: 8) + Generator<[UInt8]>.noise(choices)
        let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
        let again = SessionCodec.encode(record.content, at: record.time)
        try choices.require(again == (kind, payload), "kind \(kind) came back otherwise")
        var fold = SessionFold()
        var isFolded = true
        do { try fold.apply(record) } catch { isFolded = false }
        try choices.require(isFolded == (kind & 0x80 != 0), "kind \(kind) folded: \(isFolded)")
      })
  }

  private func stable(_ kind: UInt8, _ payload: [UInt8], _ choices: Choices) throws {
    let record: SessionRecord
    do throws(CodecError) {
      record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
    } catch {
      choices.label("an error")
      try choices.require(!error.description.isEmpty, "an error without words")
      return
    }
    choices.label("decoded")
    let again = SessionCodec.encode(record.content, at: record.time)
    let decoded = try SessionCodec.decode(sequence: 1, kind: again.kind, payload: again.payload)
    // The fields of a newer version that this version knows.
    try choices.require(
      decoded.time == record.time && decoded.content == record.content,
      "decoded twice, it is another")
  }
}

extension Generator where Value == [UInt8] {
  fileprivate static var noise: Generator {
    Generator<UInt8> { UInt8($0.draw(below: 256)) }.list(0...80, mean: 30)
  }
}
