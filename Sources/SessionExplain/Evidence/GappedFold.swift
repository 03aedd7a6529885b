@_spi(Internals) package import SessionCore

/// The fold of a journal of which records may be missing.
package enum GappedFold {
  /// Applies a record; returns the state before it, and whether that state is assumed.
  ///
  /// `afterGap` is true if records are missing since the last login. An event that the state does
  /// not allow then shows that the state changed in the gap. If the record cannot be folded, it
  /// throws, and the fold does not change.
  package static func apply(
    _ record: SessionRecord, to fold: inout SessionFold, afterGap: Bool
  ) throws(SessionFold.Failure) -> (before: SessionState.Kind, isAssumed: Bool) {
    let before = fold.kind
    do throws(SessionFold.Failure) {
      try fold.apply(record)
      return (before, false)
    } catch {
      guard case .illegal = error, afterGap, var assumed = fold.assumed(before: record) else {
        throw error
      }
      let kind = assumed.kind
      try assumed.apply(record)
      fold = assumed
      return (kind, true)
    }
  }
}

/// The fold of the payloads of a journal of which records may be missing.
package struct GappedPayloadFold: Sendable {
  private var payloads = PayloadFold()
  /// Whether records are missing since the last login.
  private var hasGap = false

  /// Creates the fold of no records.
  package init() {}

  /// Applies a payload as ``GappedFold`` applies its record; if it throws, nothing changes.
  package mutating func apply(
    sequence: UInt64, kind: UInt8, payload: RawSpan
  ) throws(PayloadFold.Failure) -> PayloadFold.Step {
    let step: PayloadFold.Step
    do throws(PayloadFold.Failure) {
      step = try payloads.step(sequence: sequence, kind: kind, payload: payload)
    } catch {
      guard hasGap, case .refused(.illegal) = error else { throw error }
      step = try assume(sequence, kind, payload)
    }
    if case .login = step.outline { hasGap = false }
    return step
  }

  /// Returns the fold of all records so far; throws only if `apply` would have thrown.
  package func fold() throws(CodecError) -> SessionFold { try payloads.fold() }

  /// Notes that records are missing here.
  package mutating func interrupt() { hasGap = true }

  /// Applies a record that the state before it does not allow.
  private mutating func assume(_ sequence: UInt64, _ kind: UInt8, _ payload: RawSpan)
    throws(PayloadFold.Failure) -> PayloadFold.Step
  {
    var fold: SessionFold
    let record: SessionRecord
    do throws(CodecError) {
      fold = try payloads.fold()
      record = try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
    } catch {
      throw .unreadable(error, sequence: sequence)
    }
    let before: SessionState.Kind
    do throws(SessionFold.Failure) {
      before = try GappedFold.apply(record, to: &fold, afterGap: true).before
    } catch {
      throw .refused(error)
    }
    payloads = PayloadFold(fold)
    return PayloadFold.Step(
      outline: PayloadFold.Outline(record), time: record.time, before: before, after: fold.kind)
  }
}

extension SessionFold {
  /// Returns a fold that missing records may have led to, so that this event is legal; `nil` for a
  /// record that is no event.
  fileprivate func assumed(before record: SessionRecord) -> SessionFold? {
    guard let event = record.event else { return nil }
    var generation = self.generation
    var state = SessionState.unauthenticated
    if event.kind != .login {
      if case .refreshFailed(let failed) = event { generation = failed.generation }
      if let token = self.state.token, event.kind != .refreshFailed {
        generation = token.generation
      }
      state = .authenticated(
        SessionState.Authenticated(
          user: self.state.user ?? "unknown", method: .password, since: record.time,
          token: TokenHistory.lost(generation, at: record.time).facts, context: nil,
          failures: SessionState.RefreshFailures()))
    }
    return SessionFold(
      state: state, generation: max(generation, self.generation), sequence: sequence,
      eventSequence: eventSequence, intents: OpenIntents())
  }
}
