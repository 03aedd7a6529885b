@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("Properties of snapshots")
struct SnapshotPropertyTests {
  /// Records of a history that can be folded, mostly of kinds that this version knows.
  private func records(_ choices: Choices) -> [SessionRecord] {
    let history = choices.chance(1, in: 2) ? History.legal()(choices) : History.any()(choices)
    let keepsUnknown = choices.chance(1, in: 4)
    var fold = SessionFold()
    return history.records.filter { record in
      if case .unknown = record.content, !keepsUnknown { return false }
      do { try fold.apply(record) } catch { return false }
      choices.step(record.line, state: fold.state.line)
      return true
    }
  }

  private func fold(
    _ records: some Sequence<SessionRecord>, from start: SessionFold = SessionFold()
  ) throws -> SessionFold { try records.reduce(into: start) { try $0.apply($1) } }

  /// The snapshot's record in a file that begins after `last`.
  private func record(_ content: SessionRecord.Content, through last: UInt64) throws
    -> SessionRecord
  {
    let (kind, payload) = SessionCodec.encode(content, at: .plainStart)
    return try SessionCodec.decode(sequence: last, kind: kind, payload: payload)
  }

  @Test("S1 JRN-4 decode(encode(fold)) = fold for every history, with the same bytes")
  func identity() {
    expect(
      Property(
        "S1 a fold reads back from its snapshot", cases: 400, regressions: RegressionFolder()
      ).check { choices in
        let fold = try fold(records(choices))
        guard let content = fold.snapshot else { return choices.label("met newer records") }
        choices.label("\(fold.state.kind)")
        // Frames of the journal's own may be between the last record and the snapshot.
        let last = fold.sequence + choices.draw(below: 3)
        let (kind, payload) = SessionCodec.encode(content, at: .plainStart)
        let record = try SessionCodec.decode(sequence: last, kind: kind, payload: payload)
        try choices.require(record.content == content, "decoded to \(record.line)")
        try choices.require(
          record.sequence == last && record.time == .plainStart && !record.hasUnknownFields,
          "another record")
        let again = SessionCodec.encode(record.content, at: record.time)
        try choices.require(again == (kind, payload), "encoded to other bytes")
      })
  }

  @Test("S2 JRN-4 fold(snapshot(prefix) + tail) = fold(all) for every history and cut")
  func prefix() {
    expect(
      Property(
        "S2 snapshot and tail fold to what all folds to", cases: 400,
        regressions: RegressionFolder()
      ).check { choices in
        let records = records(choices)
        let cut = choices.draw(in: 0...records.count)
        let first = try fold(records.prefix(cut))
        let hasUnknown = records.prefix(cut).contains { record in
          if case .unknown = record.content { true } else { false }
        }
        try choices.require(first.isWhole == !hasUnknown, "whole: \(first.isWhole)")
        guard let content = first.snapshot else { return choices.label("met newer records") }
        choices.label("compacted")
        let start = try fold([record(content, through: first.sequence)])
        try choices.require(start == first, "the snapshot folds to another")
        let whole = try fold(records.dropFirst(cut), from: start)
        try choices.require(try whole == fold(records), "cut after \(cut), the fold is another")
      })
  }

  @Test("S3 JRN-4 a reader with fewer records accepts the snapshot, and one with more refuses it")
  func behind() {
    expect(
      Property("S3 who was behind takes the snapshot", cases: 400, regressions: RegressionFolder())
        .check { choices in
          let records = records(choices)
          let seen = choices.draw(in: 0...records.count)
          let cut = choices.draw(in: 0...records.count)
          let stood = try fold(records.prefix(cut))
          guard let content = stood.snapshot else { return choices.label("met newer records") }
          let snapshot = try record(content, through: stood.sequence)
          let before = try fold(records.prefix(seen))
          var reader = before
          var refusal: SessionFold.Failure?
          do throws(SessionFold.Failure) { try reader.apply(snapshot) } catch { refusal = error }
          guard refusal == nil else {
            choices.label("refused")
            try choices.require(seen > cut && reader == before, "refused, after \(seen) of \(cut)")
            return try choices.require(
              refusal == .contradiction(sequence: stood.sequence), "another refusal")
          }
          choices.label("taken")
          try choices.require(seen <= cut, "what was folded is ahead of the snapshot")
          let whole = try fold(records.dropFirst(cut), from: reader)
          try choices.require(try whole == fold(records), "the fold is another")
        })
  }

  @Test("S4 JRN-4 equal folds have equal bytes, and different folds have different bytes")
  func canonical() {
    expect(
      Property("S4 equal folds have equal bytes", cases: 300, regressions: RegressionFolder()).check
      { choices in
        let records = records(choices)
        var folds = [SessionFold()]
        for record in records { folds.append(try fold([record], from: folds[folds.count - 1])) }
        folds = folds.filter(\.isWhole)
        let (left, right) = (choices.pick(folds), choices.pick(folds))
        guard let left, let right, let one = left.snapshot, let other = right.snapshot else {
          return
        }
        let bytes = SessionCodec.encode(one, at: .plainStart).payload
        let otherBytes = SessionCodec.encode(other, at: .plainStart).payload
        try choices.require((left == right) == (bytes == otherBytes), "\(left) and \(right)")
      })
  }

  @Test("S5 JRN-2 a changed snapshot is the snapshot of another history or an error")
  func damage() {
    expect(
      Property(
        "S5 a damaged snapshot is one of some history or an error", cases: 1_000,
        regressions: RegressionFolder()
      ).check { choices in
        let fold = try fold(records(choices))
        var (kind, payload) = SessionCodec.encode(.snapshot(fold), at: .plainStart)
        for _ in 0...choices.draw(below: 2) {
          let place = choices.draw(in: 0...payload.count - 1)
          switch choices.draw(below: 4) {
          case 0: payload.removeSubrange(max(1, place)...)
          case 1: payload.append(UInt8(choices.draw(below: 256)))
          default: payload[place] = UInt8(choices.draw(below: 256))
          }
        }
        choices.step("\(payload)")
        let last = fold.sequence
        let record: SessionRecord
        do throws(CodecError) {
          record = try SessionCodec.decode(sequence: last, kind: kind, payload: payload)
        } catch {
          choices.label("an error")
          return try choices.require(!error.description.isEmpty, "an error without words")
        }
        choices.label("decoded")
        let again = SessionCodec.encode(record.content, at: record.time)
        let decoded = try SessionCodec.decode(
          sequence: last, kind: again.kind, payload: again.payload)
        try choices.require(decoded.content == record.content, "decoded twice, it is another")
        kind = again.kind
        var reader = SessionFold()
        if case .unknown = record.content {
          // The byte now names a version of another kind of log: no session begins with it.
          choices.label("another log's")
          var isRefused = false
          do throws(SessionFold.Failure) { try reader.apply(record) } catch { isRefused = true }
          return try choices.require(isRefused, "another log's snapshot is folded")
        }
        try reader.apply(record)
        try choices.require(reader.isWhole == !record.hasUnknownFields, "whole: \(reader.isWhole)")
      })
  }
}

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
