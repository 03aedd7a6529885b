@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// `state`: shows the state that the records fold to.
struct StateCommand: JournalCommand {
  static let name = "state"
  static let syntax = CommandSyntax(
    name: name, summary: "Show the session's state, at the end or at any record",
    discussion: """
      Folds the events from the first record to the last, or to the one that --at selects (@0 is
      before the first). Of the token only its facts are known; the journal does not hold it.
      """,
    operands: operands,
    options: [
      .init(
        name: "at", value: "SELECTOR", values: .selector,
        help: "As of this record, or the last at or before it"),
      DisplayOptions.json,
    ] + RedactionOptions.options + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay state a.journal", help: "At the end"),
      .init(line: "sessionreplay state a.journal --at @412", help: "After record 412"),
      .init(line: "sessionreplay state a.journal --at -5m", help: "Five minutes before the end"),
      .init(line: "sessionreplay state a.journal --at 14:02 --local", help: "By the clock here"),
    ])

  let display: DisplayOptions
  private let at: Selector?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    at = try arguments.selector("at")
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    try file.requireRedactable()
    var target: UInt64?
    if let at {
      target = try SelectorResolver(file: file, zone: display.zone)
        .resolve([(at, .atOrBefore)]).first
      if at.isTime, target == 0 {
        throw try file.beforeTheFirst(display.zone.display, option: "--at")
      }
      if case .fromEnd(let number) = at, target == 0 {
        throw try file.beyondTheStart(number, option: "--at")
      }
    }
    if let changes = try ChangeState(of: file, through: target) {
      return try show(changes, through: target, file, context)
    }
    if let accounts = try AccountState(of: file, through: target) {
      context.output.write(
        display.isJSON ? accounts.json : accounts.text(zone: display.zone, style: context.style))
      guard let fault = accounts.fault else { return }
      throw fault.error(
        file.name, consequence: "The state shown is as of seq \(accounts.sequence).")
    }
    var payloads = PayloadFold()
    var time: Timestamp?
    var illegal: JournalFault?
    // The journal's own frames have sequences too, so the totals may end after the last record.
    var (last, isBeyond) = (UInt64(0), true)
    var compacted: UInt64 = 0
    let pass = try file.visitPayloads { (frame, payload) throws(CodecError) in
      if last == 0, frame.isSnapshot { compacted = frame.sequence }
      if let target, frame.sequence > target {
        isBeyond = false
        return false
      }
      do throws(PayloadFold.Failure) {
        time = try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
        last = frame.sequence
        return true
      } catch {
        switch error {
        case .unreadable(let problem, _): throw problem
        case .refused(let failure):
          last = frame.sequence
          illegal = JournalFault(
            failure, at: JournalPlace(sequence: frame.sequence, offset: frame.offset))
          return false
        }
      }
    }
    if let target, target < compacted { throw file.isCompacted(through: compacted, option: "--at") }
    let snapshot: StateSnapshot
    do throws(CodecError) {
      let fold = try payloads.fold()
      let redaction = file.redactor.redaction(for: pass.header)
      snapshot = StateSnapshot(redaction?.fold(fold) ?? fold, at: time)
    } catch {
      throw ToolError(.unexpected, .unexpected, error.description)
    }
    let fault = illegal ?? pass.fault
    if fault?.code != .damaged, isBeyond, case .sequence(let wanted)? = at, wanted > last {
      throw file.beyondTheEnd(wanted, last: last, option: "--at")
    }
    context.output.write(
      display.isJSON
        ? snapshot.json(journal: file.redactor.journal(pass.header))
        : StateFormatter(snapshot: snapshot, zone: display.zone, style: context.style).text)
    guard let fault else { return }
    throw fault.error(
      file.name, consequence: "The state shown is as of seq \(snapshot.fold.sequence).")
  }

  private func show(
    _ changes: ChangeState, through target: UInt64?, _ file: JournalFile, _ context: ToolContext
  ) throws(ToolError) {
    if let target, target < changes.compacted {
      throw file.isCompacted(through: changes.compacted, option: "--at")
    }
    if changes.fault?.code != .damaged, changes.isAtEnd, case .sequence(let wanted)? = at,
      wanted > changes.sequence
    {
      throw file.beyondTheEnd(wanted, last: changes.sequence, option: "--at")
    }
    context.output.write(
      display.isJSON ? changes.json : changes.text(zone: display.zone, style: context.style))
    guard let fault = changes.fault else { return }
    throw fault.error(
      file.name, consequence: "The state shown is as of seq \(changes.sequence).")
  }
}

/// Formats a state for people.
private struct StateFormatter {
  let snapshot: StateSnapshot
  let zone: TimeZoneChoice
  let style: Style
  private let state: StateDescription

  init(snapshot: StateSnapshot, zone: TimeZoneChoice, style: Style) {
    self.snapshot = snapshot
    self.zone = zone
    self.style = style
    state = StateDescription(snapshot.fold)
  }

  var text: String {
    let place =
      snapshot.time.map { "as of \(zone.text($0)) (seq \(snapshot.fold.sequence))" }
      ?? "before any record"
    let kind = state.kind.description
    var text =
      switch state.kind {
      case .unauthenticated: "\(style.bold(kind)) \(place)\n"
      case .authenticated: "\(style.green(kind)) \(place)\n"
      case .expired: "\(style.red(kind)) \(place)\n"
      }
    for (name, value) in lines {
      text += "  \(style.dim(name.padded(to: 13)))  \(value)\n"
    }
    return text
  }

  private var lines: [(String, String)] {
    var lines: [(String, String)] = []
    if let user = state.user { lines.append(("user", user.description.printable)) }
    if let since = state.since {
      let how = state.method?.phrase ?? state.reason.map(EventFormatter.reason)
      lines.append(("since", [zone.text(since), how].compactMap(\.self).joined(separator: ", ")))
    }
    lines += context(state.context)
    if let token = state.token {
      lines += self.token(token)
    } else if state.newest != .none {
      lines.append(("newest token", "\(state.newest)"))
    }
    return lines + failures(state.failures) + intents
  }

  private func context(_ context: ActiveContext?) -> [(String, String)] {
    guard let context else { return [] }
    var lines = [("role", named(context.role))]
    if let school = context.school { lines.append(("school", named(school))) }
    if let unit = context.unit { lines.append(("unit", named(unit))) }
    let permissions = context.permissions.map(\.printable).joined(separator: ", ")
    return lines + [("permissions", permissions.isEmpty ? "none" : permissions)]
  }

  private func named(_ named: ActiveContext.Named) -> String {
    let id = named.id.description.printable
    return named.name.isEmpty ? id : "\(named.name.printable) (\(id))"
  }

  private func token(_ token: TokenMetadata) -> [(String, String)] {
    var text = EventFormatter.token(token)
    if let id = token.id { text += ", id \(id.description.printable)" }
    var expiry = zone.text(token.expiresAt)
    if let time = snapshot.time {
      let left = token.expiresAt.milliseconds(since: time)
      expiry +=
        left > 0
        ? ", \(DurationFormatter.text(milliseconds: left)) after the last record"
        : ", over by then"
    }
    return [("token", text), ("issued", zone.text(token.issuedAt)), ("expires", expiry)]
  }

  private func failures(_ failures: SessionState.RefreshFailures?) -> [(String, String)] {
    guard let failures, failures.total > 0 else { return [] }
    var text = "\(failures.total.grouped) in a row, \(failures.answered.grouped) of them answered"
    if let last = failures.last { text += "; the last: \(FailureFormatter.text(last))" }
    return [("failures", text)]
  }

  private var intents: [(String, String)] {
    var lines: [(String, String)] = []
    if let request = state.intents.request {
      let what = NoteFormatter.request(request.sent.kind)
      lines.append(
        (
          "open request",
          "\(what) with \(request.sent.generation), sent at @\(request.sequence) by process "
            + "\(request.sent.process), awaited until \(zone.text(request.sent.deadline))"
        ))
    }
    for generation in state.intents.revocations {
      lines.append(("to be revoked", "\(generation)"))
    }
    return lines
  }
}
