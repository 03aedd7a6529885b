@_spi(Internals) import SessionCore
import SessionExplain
import SessionTestKit
import Testing

@Suite("GappedPayloadFold")
struct GappedPayloadFoldTests {
  @Test("RPL-6 payloads around gaps are folded as their records are, and refused as they are")
  func agreement() {
    let sweep = Sweep("gaps", takingOneOf: 3)
    let report = Property(
      "payloads around gaps", cases: sweep.cases(of: 400), regressions: RegressionFolder()
    ).check { choices in
      var (values, hasGap) = (SessionFold(), false)
      var payloads = GappedPayloadFold()
      for record in History.legal(upTo: 80)(choices).records {
        if choices.chance(1, in: 5) {
          hasGap = true
          payloads.interrupt()
          continue
        }
        var (before, isAssumed) = (values.state.kind, false)
        var failure: SessionFold.Failure?
        do throws(SessionFold.Failure) {
          (before, isAssumed) = try GappedFold.apply(record, to: &values, afterGap: hasGap)
          if case .event(.login) = record.content { hasGap = false }
        } catch {
          failure = error
        }
        choices.label(failure != nil ? "refused" : isAssumed ? "assumed" : "taken")
        let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        var step: PayloadFold.Step?
        var refusal: PayloadFold.Failure?
        do throws(PayloadFold.Failure) {
          step = try payloads.apply(
            sequence: record.sequence, kind: kind, payload: payload.span.bytes)
        } catch {
          refusal = error
        }
        try choices.require(
          refusal == failure.map { .refused($0) },
          "@\(record.sequence): \(String(describing: refusal))")
        guard let step else { continue }
        try choices.require(
          step.outline == PayloadFold.Outline(record) && step.time == record.time,
          "@\(record.sequence) is outlined as \(step.outline)")
        try choices.require(
          step.before == before && step.after == values.state.kind,
          "@\(record.sequence) leads from \(step.before) to \(step.after)")
      }
    }
    expect(report)
    #expect(
      report.coverage == .replayed || report.labels["assumed"] ?? 0 > sweep.cases(of: 20),
      "\(report.labels)")
  }
}
