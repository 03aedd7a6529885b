internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Formats a record as one line of a timeline.
struct RecordFormatter {
  let zone: TimeZoneChoice
  let style: Style

  /// Returns `    7  2026-11-21 14:00:05.205Z  refreshSucceeded     tok#2 lives 2.0 s, as
  /// scheduled`.
  ///
  /// With `delta`, a column before the time shows the time since another record.
  func line(_ record: SessionRecord, delta: (text: String, isBack: Bool)? = nil) -> String {
    var start = String(record.sequence).leftPadded(to: 5)
    if let delta { start += "  " + (delta.isBack ? style.red(delta.text) : delta.text) }
    start += "  \(zone.text(record.time))"
    switch record.content {
    case .event(let event):
      let name = color(event.kind, event.kind.description.padded(to: 19))
      return "\(start)  \(name)  \(EventFormatter.text(event, at: record.time))"
    case .note(let note):
      let name = "(\(note.kind))".padded(to: 19)
      return style.dim("\(start)  \(name)  \(NoteFormatter.text(note, at: record.time))")
    case .snapshot(let fold):
      let text = SnapshotFormatter.text(fold, through: record.sequence)
      return "\(start)  \(style.bold("snapshot".padded(to: 19)))  \(text)"
    case .unknown(let unknown):
      if let change = record.change {
        return "\(start)  \(change.name.padded(to: 19))  \(ChangeFormatter.text(change))"
      }
      if let (name, account) = record.account {
        return "\(start)  \(name.padded(to: 19))  \(AccountFormatter.text(account))"
      }
      let text = "\(record.name.padded(to: 19))  \(Self.text(unknown))"
      return unknown.isIgnorable ? style.dim("\(start)  \(text)") : "\(start)  \(text)"
    }
  }

  private func color(_ kind: SessionEvent.Kind, _ text: String) -> String {
    switch kind {
    case .login: style.green(text)
    case .refreshSucceeded, .contextSwitched: style.bold(text)
    case .refreshFailed: style.yellow(text)
    case .sessionExpired, .logout: style.red(text)
    }
  }

  private static func text(_ unknown: SessionRecord.Unknown) -> String {
    let shown = unknown.payload.prefix(24).hexadecimal
    return "\(count(unknown.payload.count, "byte"))"
      + (shown.isEmpty ? "" : " \(shown)\(unknown.payload.count > 24 ? "…" : "")")
      + ", from a newer version"
  }
}

/// Formats a snapshot as one line.
enum SnapshotFormatter {
  /// Returns `of records 1…412: authenticated u-7 with tok#9`; `last` is the snapshot's own
  /// sequence.
  static func text(_ fold: SessionFold, through last: UInt64) -> String {
    let state = StateDescription(fold)
    var parts = [session(state)]
    if let request = state.intents.request {
      parts.append("\(NoteFormatter.request(request.sent.kind)) of @\(request.sequence) open")
    }
    if !state.intents.revocations.isEmpty {
      let tokens = state.intents.revocations.map(\.description).joined(separator: ", ")
      parts.append("\(tokens) to be revoked")
    }
    return "of records 1…\(last): \(parts.joined(separator: "; "))"
  }

  private static func session(_ state: StateDescription) -> String {
    var text = state.kind.description
    if let user = state.user { text += " \(user.description.printable)" }
    if let token = state.token {
      text += " with \(token.generation)"
    } else if state.user == nil, state.newest != .none {
      text += ", the newest token was \(state.newest)"
    }
    if let failed = state.failures?.total, failed > 0 {
      text += ", \(failed.grouped) failed in a row"
    }
    if let reason = state.reason { text += ", \(EventFormatter.reason(reason))" }
    return text
  }
}

extension StateDescription.Value {
  /// Returns the value as one line for people.
  func text(_ zone: TimeZoneChoice) -> String {
    switch self {
    case .none: "none"
    case .text(let text): text.isEmpty ? "(empty)" : text.printable
    case .number(let number): number.grouped
    case .count(let count): count.grouped
    case .token(let generation): generation == .none ? "none" : "\(generation)"
    case .flag(let flag): flag ? "yes" : "no"
    case .time(let time): zone.text(time)
    case .texts(let texts): texts.isEmpty ? "none" : texts.map(\.printable).joined(separator: ", ")
    case .tokens(let tokens):
      tokens.isEmpty ? "none" : tokens.map(\.description).joined(separator: ", ")
    }
  }
}

/// The fold of a journal's records up to one of them.
struct StateSnapshot: Equatable, Sendable {
  private(set) var fold = SessionFold()
  /// The time of its last record.
  private(set) var time: Timestamp?

  init(_ fold: SessionFold = SessionFold(), at time: Timestamp? = nil) {
    self.fold = fold
    self.time = time
  }

  mutating func apply(_ record: SessionRecord) throws(SessionFold.Failure) {
    try fold.apply(record)
    time = record.time
  }

  /// Returns one JSON object, with every field in every state.
  func json(journal: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("journal", journal)
      json.field("sequence", fold.sequence)
      json.field("eventSequence", fold.eventSequence)
      json.field("time", time)
      for field in StateDescription(fold).fields { json.field(field) }
    }
    return json.text + "\n"
  }
}
