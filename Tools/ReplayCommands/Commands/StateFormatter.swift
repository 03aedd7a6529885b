@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats a state for people.
struct StateFormatter {
  let snapshot: StateSnapshot
  let zone: TimeZoneChoice
  let style: Style

  var text: String {
    let fold = snapshot.fold
    let place =
      snapshot.time.map { "as of \(zone.text($0)) (seq \(fold.sequence))" } ?? "before any record"
    let kind = fold.state.kind.description
    var text =
      switch fold.state {
      case .unauthenticated: "\(style.bold(kind)) \(place)\n"
      case .authenticated: "\(style.green(kind)) \(place)\n"
      case .expired: "\(style.red(kind)) \(place)\n"
      }
    for (name, value) in session + intents {
      text += "  \(style.dim(name.padded(to: 13)))  \(value)\n"
    }
    return text
  }

  private var session: [(String, String)] {
    switch snapshot.fold.state {
    case .unauthenticated:
      return newest
    case .authenticated(let session):
      let since = "\(zone.text(session.since)), \(EventFormatter.method(session.method))"
      return [("user", session.user.description.printable), ("since", since)]
        + context(session.context) + token(session.token) + failures(session.failures)
    case .expired(let session):
      let since = "\(zone.text(session.since)), \(EventFormatter.reason(session.reason))"
      return [("user", session.user.description.printable), ("since", since)]
        + context(session.context) + newest
    }
  }

  private var newest: [(String, String)] {
    let generation = snapshot.fold.generation
    return generation == .none ? [] : [("newest token", "\(generation)")]
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

  private func failures(_ failures: SessionState.RefreshFailures) -> [(String, String)] {
    guard failures.total > 0 else { return [] }
    var text = "\(failures.total.grouped) in a row, \(failures.answered.grouped) of them answered"
    if let last = failures.last { text += "; the last: \(FailureFormatter.text(last))" }
    return [("failures", text)]
  }

  private var intents: [(String, String)] {
    var lines: [(String, String)] = []
    if let request = snapshot.fold.intents.request {
      let what = NoteFormatter.request(request.sent.kind)
      lines.append(
        (
          "open request",
          "\(what) with \(request.sent.generation), sent at @\(request.sequence) by process "
            + "\(request.sent.process), awaited until \(zone.text(request.sent.deadline))"
        ))
    }
    for generation in snapshot.fold.intents.revocations {
      lines.append(("to be revoked", "\(generation)"))
    }
    return lines
  }
}
