@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats a state for people.
struct StateFormatter {
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
      let how = state.method.map(EventFormatter.method) ?? state.reason.map(EventFormatter.reason)
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
