@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// What another policy would have changed, in words.
struct WhatIfAnswer: Sendable {
  /// The class of an answer, as JSON names it.
  enum Kind: String, CaseIterable, Sendable {
    case same = "same"
    case differs = "differs"
    case unknown = "unknown"
  }

  let run: WhatIfRun
  let change: PolicyChange
  let policies: [PlacedPolicy]
  let zone: DisplayZone

  /// The class of the answer.
  var kind: Kind {
    switch run.ending {
    case .same, nil: .same
    case .decides, .nothing, .more: .differs
    case .earlier(let timer, _): isLate(timer) ? .unknown : .differs
    case .unreadable, .uses, .gap, .version: .unknown
    }
  }

  /// Whether the record at which the answer stops is by this timer, which may have been late.
  ///
  /// Then the recorded policy may be the other one.
  private func isLate(_ timer: SessionTimer) -> Bool {
    switch timer {
    case .lifetime: run.batch?.contents.expiry == .lifetimeEnded
    default: run.batch?.sent?.trigger == .schedule
    }
  }

  /// Whether anything can be said: at least one decision was made again.
  var saysSomething: Bool { kind != .unknown || run.decisions > 0 }

  // MARK: Sentences

  private var name: String { "Under the policy \(change.text)," }

  /// The sentences of the answer.
  var sentences: [String] {
    if run.ending == .unreadable {
      return [
        "\(name) the outcome is the same up to the last record that can be read.",
        "What follows cannot be read, so the rest is not known. \(stop)",
        "Decisions that were made again: \(run.decisions).",
      ] + delays
    }
    guard let batch = run.batch, let ending = run.ending else {
      return [
        "\(name) the outcome is the same up to the end of the journal.",
        "Decisions that were made again: \(run.decisions).",
      ] + delays
    }
    return delays + sentences(ending, batch)
  }

  private func sentences(_ ending: WhatIfRun.Ending, _ batch: RecordedBatch) -> [String] {
    switch ending {
    case .same, .unreadable: return []
    case .decides(let contents, let due): return decides(contents, due, batch)
    case .nothing(let due): return nothing(due, batch)
    case .earlier(.lifetime, let time):
      return [
        "\(name) the session would have ended at \(zone.text(time)), before \(place(batch)): it "
          + "lasted for as long as this policy allows.",
        isLate(.lifetime)
          ? "\(place(batch)) ends it by its lifetime. If the app did not run before, the outcome is the same."
          : "If the app did not run then, it would have ended when the app ran again.",
        stop,
      ]
    case .earlier(let timer, let time):
      let late = isLate(timer) ? [lateRefresh(batch)] : []
      return ["\(name) a refresh was due at \(zone.text(time)), before \(place(batch))."] + late + [
        "Whether the app ran then is not in the journal. The response is unknown, because the "
          + "request was never made.", stop,
      ]
    case .more(let contents): return more(contents, batch)
    case .uses(let since, let limit):
      return [
        "\(name) the outcome is the same up to \(zone.text(since)).",
        "Then the session may have been unused for "
          + "\(DurationFormatter.text(milliseconds: limit)), which would have ended it before "
          + "\(place(batch)). The journal does not record every use.", stop,
      ]
    case .gap(let gap):
      return [
        "Up to \(place(batch)) the outcome is the same.",
        "That record cannot be decided again: \(gap.words).", stop,
      ]
    case .version:
      return [
        "Up to \(place(batch)) the outcome is the same.",
        "This version decides that record otherwise than the version that wrote it, under the "
          + "recorded policy too (sessionreplay replay-corpus).", stop,
      ]
    }
  }

  private func lateRefresh(_ batch: RecordedBatch) -> String {
    "\(place(batch)) is a refresh by schedule. If the app did not run before, the outcome is the same."
  }

  private var stop: String { "The answer ends there." }

  private var delays: [String] {
    run.moved.map { moved in
      "\(name) the next attempt after @\(moved.sequence) was due \(words(moved.other)), "
        + "instead of \(zone.text(moved.recorded))."
    }
  }

  private func decides(
    _ contents: [SessionRecord.Content], _ due: ClosedRange<Timestamp>?, _ batch: RecordedBatch
  ) -> [String] {
    let recorded = batch.contents
    let at = "at \(zone.text(batch.time))"
    switch (recorded.endsSession, contents.endsSession) {
    case (true, false):
      return ["\(name) the session would not have ended \(at) (\(reason(recorded, batch)))."]
        + next(due) + [stop]
    case (false, true):
      return [
        "\(name) the session would have ended \(at) (\(reason(contents, batch))).",
        rest(contents), stop,
      ]
    case (true, true):
      return [
        "\(name) the session would have ended \(at) as well (\(reason(contents, batch))).",
        rest(contents), stop,
      ]
    case (false, false):
      return [
        "\(name) the decision \(at) would have been another one: \(words(contents, batch))."
      ] + next(due) + [stop]
    }
  }

  private func more(_ contents: [SessionRecord.Content], _ batch: RecordedBatch) -> [String] {
    let after = "directly after \(place(batch))"
    if contents.endsSession {
      return [
        "\(name) the session would have ended at \(zone.text(batch.time)), \(after) "
          + "(\(reason(contents, batch))).",
        rest(contents), stop,
      ]
    }
    return [
      "\(name) more would have happened \(after): \(words(contents, batch)).",
      "A response is unknown, because the request was never made.", stop,
    ]
  }

  private func next(_ due: ClosedRange<Timestamp>?) -> [String] {
    guard let due else { return [] }
    return ["The next attempt was due \(words(due)). Its response is unknown."]
  }

  private func words(_ times: ClosedRange<Timestamp>) -> String {
    times.lowerBound == times.upperBound
      ? "at \(zone.text(times.lowerBound))"
      : "between \(zone.text(times.lowerBound)) and \(zone.text(times.upperBound))"
  }

  private func nothing(_ due: Timestamp?, _ batch: RecordedBatch) -> [String] {
    let time = "at \(zone.text(batch.time))"
    let what: String
    if batch.contents.endsSession {
      what = "the session would not have ended \(time) (\(reason(batch.contents, batch)))"
    } else if batch.sent != nil {
      what = "the request @\(batch.last) would not have been made \(time)"
    } else {
      what = "\(place(batch)) would not have been written"
    }
    var sentences = ["\(name) \(what)."]
    if let due {
      let isUnused = batch.contents.expiry == .inactivity
      let later = "\(zone.text(due))" + (isUnused ? " at the earliest." : ".")
      sentences.append(
        batch.contents.endsSession ? "It would have ended at \(later)" : "It was due at \(later)")
    }
    return sentences + [stop]
  }

  /// What remains of a session that ends.
  private func rest(_ contents: [SessionRecord.Content]) -> String {
    contents.logout == nil
      ? "It would have been kept as expired: the user stays known, and the app's data stays."
      : "The user would have been logged out."
  }

  private func reason(_ contents: [SessionRecord.Content], _ batch: RecordedBatch) -> String {
    let events = contents.compactMap { content -> SessionEvent? in
      guard case .event(let event) = content else { return nil }
      return event.kind == .sessionExpired || event.kind == .logout ? event : nil
    }
    let text = events.first.map { EventFormatter.text($0, at: batch.time) } ?? "no reason"
    guard let index = batch.contents.firstIndex(where: { $0 == events.first.map { .event($0) } })
    else { return text }
    return "@\(batch.records[index].sequence), \(text)"
  }

  private func words(_ contents: [SessionRecord.Content], _ batch: RecordedBatch) -> String {
    DecisionWords.text(contents, unlike: batch.contents, at: batch.time)
  }

  private func place(_ batch: RecordedBatch) -> String { "@\(batch.first)" }

  // MARK: Output

  /// The answer for people.
  func text(_ name: String) -> String {
    var text = sentences.joined(separator: "\n") + "\n"
    if let caveat { text += caveat + "\n" }
    if !policies.isEmpty {
      text += "\nThe recorded policy is standard, except for:\n"
      for placed in policies {
        text += "  \(placed.policy.description.replacing(",", with: ", ")) (@\(placed.sequence))\n"
      }
    }
    return text
  }

  /// What this policy asks that no journal can answer.
  private var caveat: String? {
    guard change.preset?.policy.limits.profileCheck == .afterLoginAndLaunch else { return nil }
    return "This policy also asks for the user's profile at each opening. The answers are unknown."
  }

  /// The answer as one JSON object.
  func json(_ file: String) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("file", file)
      json.field("policy", change.text)
      json.field("answer", kind.rawValue)
      json.field("decisions", run.decisions)
      json.field("sequence", run.batch?.first)
      json.field("time", run.batch?.time)
      json.field("ending", run.ending?.word)
      json.field("dueFrom", due?.lowerBound)
      json.field("dueTo", due?.upperBound)
      json.array("moved", run.moved) { json, moved in
        json.object { json in
          json.field("sequence", moved.sequence)
          json.field("recorded", moved.recorded)
          json.field("due", moved.other.lowerBound)
          json.field("dueTo", moved.other.upperBound)
        }
      }
      json.field("text", (sentences + [caveat].compactMap { $0 }).joined(separator: " "))
      json.array("recordedPolicy", policies)
    }
    return json.text + "\n"
  }

  private var due: ClosedRange<Timestamp>? {
    switch run.ending {
    case .decides(_, let due): due
    case .nothing(let due): due.map { $0...$0 }
    case .earlier(_, let time): time...time
    default: nil
    }
  }
}

extension WhatIfRun.Ending {
  /// Its name in JSON.
  var word: String {
    switch self {
    case .same: "endOfJournal"
    case .unreadable: "unreadable"
    case .decides: "otherDecision"
    case .nothing: "noDecision"
    case .earlier: "earlierTimer"
    case .more: "furtherDecision"
    case .uses: "uses"
    case .gap(let gap): gap.rawValue
    case .version: "version"
    }
  }
}

extension RecordedBatch {
  /// The sequence of the last record.
  var last: UInt64 { records.last?.sequence ?? first }
}
