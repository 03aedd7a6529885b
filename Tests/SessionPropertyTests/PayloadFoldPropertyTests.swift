@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("Properties of the fold of payloads")
struct PayloadFoldPropertyTests {
  private struct Raw {
    let sequence: UInt64
    var kind: UInt8
    var payload: [UInt8]
  }

  /// A history as in a journal: some records damaged, with snapshots between them.
  private func raws(_ choices: Choices) throws -> [Raw] {
    let history = choices.chance(1, in: 2) ? History.legal()(choices) : History.any()(choices)
    let isDamaged = choices.chance(1, in: 2)
    var fold = SessionFold()
    var raws: [Raw] = []
    for record in history.records {
      var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      if isDamaged, choices.chance(1, in: 6) { damage(&kind, &payload, choices) }
      raws.append(Raw(sequence: record.sequence, kind: kind, payload: payload))
      do { try fold.apply(record) } catch { continue }
      if choices.chance(1, in: 12), let snapshot = fold.snapshot {
        let (kind, payload) = SessionCodec.encode(snapshot, at: record.time)
        raws.append(Raw(sequence: record.sequence, kind: kind, payload: payload))
      }
    }
    return raws
  }

  private func damage(_ kind: inout UInt8, _ payload: inout [UInt8], _ choices: Choices) {
    let place = choices.draw(in: 0...payload.count - 1)
    switch choices.draw(below: 6) {
    case 0, 1: payload[place] ^= UInt8(choices.draw(in: 1...255))
    case 2: payload.removeSubrange(place...)
    case 3: payload.append(UInt8(choices.draw(below: 256)))
    case 4: payload[min(8, payload.count - 1)] = 2
    default: kind = UInt8(choices.draw(below: 256))
    }
  }

  /// The result of folding each payload's value.
  private func reference(_ raw: Raw, on fold: inout SessionFold) -> PayloadFold.Failure? {
    do {
      try fold.apply(
        SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload))
      return nil
    } catch let error as CodecError {
      return .unreadable(error, sequence: raw.sequence)
    } catch let error as SessionFold.Failure {
      return .refused(error)
    } catch {
      Issue.record("neither the codec's nor the fold's: \(error)")
      return nil
    }
  }

  @Test(
    "F7 STA-1 the fold of payloads equals the fold of their values and rejects the same records")
  func agreement() {
    expect(
      Property(
        "F7 the fold of payloads is that of their values",
        cases: Sweep("payloads and values", takingOneOf: 3).cases(of: 600),
        regressions: RegressionFolder()
      ).check { choices in
        var (values, payloads) = (SessionFold(), PayloadFold())
        for raw in try raws(choices) {
          choices.step(
            "@\(raw.sequence) kind \(raw.kind), \(raw.payload)", state: values.state.line)
          let before = values.state.kind
          let expected = reference(raw, on: &values)
          var (step, failure): (PayloadFold.Step?, PayloadFold.Failure?)
          do throws(PayloadFold.Failure) {
            step = try payloads.step(
              sequence: raw.sequence, kind: raw.kind, payload: raw.payload.span.bytes)
          } catch {
            failure = error
            choices.label(error.isUnreadable ? "unreadable" : "refused")
          }
          try choices.require(
            failure == expected,
            "\(failure?.description ?? "taken"), and as a value "
              + (expected?.description ?? "taken"))
          if let step {
            let record = try SessionCodec.decode(
              sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
            let expected = PayloadFold.Step(
              outline: PayloadFold.Outline(record), time: record.time, before: before,
              after: values.state.kind)
            try choices.require(step == expected, "\(step), and as a value \(expected)")
          }
          let folded = try payloads.fold()
          try choices.require(folded == values, "payloads lead to \(folded.state.line)")
          try choices.require(payloads.intents == values.intents, "the open intents differ")
          // Intents with another need or life are equal, for the sake of snapshots.
          try choices.require(payloads.intents.need == values.intents.need, "the needs differ")
          try choices.require(
            payloads.intents.refreshTokenLife == values.intents.refreshTokenLife, "the lives differ"
          )
          // A reader may take the fold and continue from it.
          if choices.chance(1, in: 8) { payloads = PayloadFold(folded) }
        }
      })
  }

  @Test("P5 JRN-5 a decoder that remembers texts, or builds no values, decodes like one that does")
  func memory() {
    expect(
      Property(
        "P5 a decoder's memory changes nothing", cases: 300, regressions: RegressionFolder()
      ).check { choices in
        var decoder = SessionDecoder()
        for raw in try raws(choices) {
          choices.step("@\(raw.sequence) kind \(raw.kind), \(raw.payload)")
          let expected = Result { () throws(CodecError) in
            try SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
          }
          let found = Result { () throws(CodecError) in
            try decoder.decode(
              sequence: raw.sequence, kind: raw.kind, payload: raw.payload.span.bytes)
          }
          try choices.require(found == expected, "\(found), and without memory \(expected)")
          let checked = Result { () throws(CodecError) in
            try SessionCodec.check(
              sequence: raw.sequence, kind: raw.kind, payload: raw.payload.span.bytes)
          }
          switch (checked, expected) {
          case (.success, .success): break
          case (.failure(let found), .failure(let error)) where found == error: break
          default: throw Falsified("checked as \(checked), and decoded as \(expected)")
          }
        }
      })
  }
}

extension PayloadFold.Failure {
  fileprivate var isUnreadable: Bool {
    if case .unreadable = self { return true }
    return false
  }
}
