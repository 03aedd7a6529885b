@_spi(Internals) import SessionCore

/// The text of an explanation.
package struct WhyText: Sendable {
  let zone: DisplayZone
  let style: Style
  /// Whether the whole kept chain is shown, and not only its newest part.
  let isFull: Bool

  /// The number of records of the chain that are shown otherwise.
  static let shownLinks = 12

  package init(
    zone: DisplayZone, style: Style = Style(isColored: false), isFull: Bool = false
  ) {
    self.zone = zone
    self.style = style
    self.isFull = isFull
  }

  /// Returns the whole text, with a line feed after each line.
  package func text(_ explanation: Explanation) -> String {
    lines(explanation).map { $0 + "\n" }.joined()
  }

  /// Returns the lines of the text; `remarks` about the file come after the plain sentences.
  ///
  /// No line has a character that moves a terminal's cursor, except in the codes for colours.
  package func lines(_ explanation: Explanation, remarks: [String] = []) -> [String] {
    let summary = explanation.summaryLines(in: .english)
    return [style.bold(summary[0])] + summary.dropFirst() + [identity(explanation)] + remarks
      + [""] + evidence(explanation)
  }

  private func evidence(_ explanation: Explanation) -> [String] {
    var lines = [headline(explanation)] + chain(explanation)
    for part in sections(explanation) { lines += section(part.label, part.sentences) }
    if let again = explanation.signedInAgain {
      lines += section("Since then", ["signed in again at @\(again)"])
    }
    lines += section("Others", others(explanation))
    for root in explanation.root { lines += [""] + evidence(root) }
    return lines
  }

  /// Returns one line: the time, the first part of the summary, the cause, the app and the user.
  package func oneLine(_ explanation: Explanation) -> String {
    "\(time(explanation))  \(explanation.opening(in: .english).lowercasedStart) "
      + "[\(explanation.cause), \(explanation.certainty)] \(place(explanation))"
      + (explanation.signedInAgain == nil ? "" : ", a new sign-in followed")
  }

  /// Returns one line for an end whose cause is known: the time, the certainty, the app and the user.
  package func caseLine(_ explanation: Explanation) -> String {
    "\(time(explanation))  \(explanation.certainty.rawValue.padded(to: 8))  \(place(explanation))"
  }

  private func time(_ explanation: Explanation) -> String {
    explanation.time.map(zone.secondsText) ?? "-"
  }

  private func place(_ explanation: Explanation) -> String {
    let user = explanation.user.map { " user \($0)" } ?? ""
    return "app \(explanation.app?.printable ?? "unknown")\(system(explanation))\(user)"
  }

  /// Returns the line that identifies the case: app, user, journal and time.
  private func identity(_ explanation: Explanation) -> String {
    let label =
      switch explanation.cause.class {
      case .end: "ended"
      case .still: "as of"
      case .event: "recorded"
      }
    return [
      (explanation.app.map { "App \($0.printable)" } ?? "Unknown app version")
        + system(explanation),
      explanation.user.map { "user \($0)" },
      explanation.origin.journal.map { "journal \($0.prefix(8))…" },
      explanation.time.map { "\(label) \(zone.secondsText($0))" },
    ].compactMap { $0 }.joined(separator: " · ")
  }

  /// Returns the kind of system after the app's version; nothing if it is not known.
  private func system(_ explanation: Explanation) -> String {
    explanation.platform.map { " on \($0)" } ?? ""
  }

  /// Returns a line for each of the newest other ends, and one for the rest.
  private func others(_ explanation: Explanation) -> [String] {
    let rest =
      explanation.others.before + explanation.others.after - UInt64(explanation.others.newest.count)
    var lines = explanation.others.newest.map { end in
      "\(time(end))  @\(end.sequence ?? 0)  \(end.cause), \(end.certainty)"
    }
    if rest > 0 {
      lines.append(
        lines.isEmpty
          ? "\(count(rest, "other end")); --all explains each"
          : "and \(rest.grouped) more; --all explains each")
    }
    return lines
  }

  /// Returns the headline, such as `Expired at 2026-11-21 14:00:05.205Z (seq 412): … (likely)`.
  package func headline(_ explanation: Explanation) -> String {
    var text = fill(explanation.cause.headline, explanation.headline)
    if explanation.certainty != .proven { text += " (\(explanation.certainty))" }
    guard let time = explanation.time, let sequence = explanation.sequence else {
      return text
    }
    let place = "\(zone.text(time)) (seq \(sequence))"
    guard let colon = text.firstIndex(of: ":") else {
      return "\(text), at \(place)"
    }
    return "\(text[..<colon]) at \(place)\(text[colon...])"
  }

  // MARK: The chain

  private func chain(_ explanation: Explanation) -> [String] {
    let links = explanation.chain
    let shown = isFull ? links : Array(links.prefix(Self.shownLinks))
    var lines = shown.map { line($0, explanation.sequence, explanation.time) }
    if shown.count < links.count {
      lines.append(
        style.dim("       … \(count(links.count - shown.count, "record")) more, --full shows them"))
    }
    if isFull, explanation.omitted > 0 {
      lines.append(
        style.dim(
          "       … \(count(explanation.omitted, "request")) with this token between, not kept"))
    }
    return lines
  }

  private func line(_ link: Explanation.Link, _ end: UInt64?, _ time: Timestamp?) -> String {
    let fact = link.fact
    var distance = ""
    if let time, link.isInFile {
      let span = fact.time.milliseconds(since: time)
      distance = (span > 0 ? "+" : "") + DurationFormatter.text(milliseconds: span)
    }
    let name = fact.note == nil ? fact.record.name : "(\(fact.record.name))"
    var text = Self.text(of: fact)
    if link.role == .decided, fact.event != nil, let end { text += "; decided with @\(end)" }
    let line =
      "\(String(fact.sequence).leftPadded(to: 5))  \(distance.leftPadded(to: 12))  "
      + "\(name.padded(to: 19))  \(text)"
    return fact.note == nil ? line : style.dim(line)
  }

  /// Returns the text of a record; of a context it shows no permissions.
  package static func text(of fact: Fact) -> String {
    switch fact.record.content {
    case .event(.contextSwitched(let change)):
      return EventFormatter.join([
        "role \(EventFormatter.name(change.context.role))",
        change.token.map(EventFormatter.token) ?? "same token",
        change.request == 0 ? nil : "request @\(change.request)",
      ])
    case .event(let event): return EventFormatter.text(event, at: fact.time)
    case .note(let note): return NoteFormatter.text(note, at: fact.time)
    case .snapshot, .unknown: return "of a newer version"
    }
  }

  // MARK: Sections

  /// Sentences of one kind: what is likely, what is ruled out.
  package struct Section: Sendable {
    package let label: String
    package let sentences: [String]

    package init(label: String, sentences: [String]) {
      (self.label, self.sentences) = (label, sentences)
    }
  }

  /// Returns what the records prove, what follows from them and what to do; no part is empty.
  package func sections(_ explanation: Explanation) -> [Section] {
    let inferred = explanation.findings.inferred
    let all = [
      Section(label: "Proven", sentences: explanation.findings.proven.map(sentence)),
      Section(
        label: "Likely", sentences: inferred.filter { $0.certainty >= .likely }.map(sentence)),
      Section(
        label: "Possible", sentences: inferred.filter { $0.certainty == .possible }.map(sentence)),
      Section(label: "Ruled out", sentences: explanation.findings.ruledOut.map(ruledOut)),
      Section(label: "Also seen", sentences: explanation.findings.alsoSeen.map(graded)),
      Section(
        label: "Not known",
        sentences: explanation.findings.untold.map { fill($0.what.sentence, $0.values) }),
      Section(
        label: "Do",
        sentences: explanation.findings.advice.map { fill($0.what.sentence, $0.values) }),
    ]
    return all.filter { !$0.sentences.isEmpty }
  }

  private func section(_ label: String, _ sentences: [String]) -> [String] {
    sentences.enumerated().map { index, sentence in
      style.dim((index == 0 ? label : "").padded(to: 10)) + " " + sentence
    }
  }

  private func sentence(_ finding: Finding) -> String {
    fill(finding.what.sentence, finding.values)
  }

  private func ruledOut(_ finding: Finding) -> String {
    (finding.what.topic.map { "\($0): " } ?? "") + sentence(finding)
  }

  private func graded(_ finding: Finding) -> String {
    finding.certainty == .proven ? sentence(finding) : "\(finding.certainty): \(sentence(finding))"
  }

  /// Returns a sentence with values in its places.
  package func fill(_ sentence: String, _ values: [Value]) -> String {
    WhyFormatter.fill(sentence, values) { WhyFormatter.text($0, zone) }
  }
}

/// A formatter of sentences with places for values.
enum WhyFormatter {
  static let place = "{}"

  static func fill(
    _ sentence: String, _ values: [Value], _ text: (Value) -> String
  ) -> String {
    var filled = ""
    var rest = sentence[...]
    var values = values[...]
    while let brace = rest.firstIndex(of: "{") {
      filled += rest[..<brace]
      rest = rest[brace...].dropFirst(2)
      if let value = values.popFirst() { filled += text(value) }
    }
    return filled + rest
  }

  static func text(_ value: Value, _ zone: DisplayZone) -> String {
    switch value {
    case .token(let generation): generation.description
    case .place(let sequence): "@\(sequence)"
    case .span(let milliseconds): DurationFormatter.text(milliseconds: milliseconds)
    case .time(let time): zone.text(time)
    case .number(let number): number.grouped
    case .counted(let number, let noun): count(number, noun)
    case .process(let process): String(process)
    case .opening(let process, let opening):
      "\(process) (opening \(String(opening.description.prefix(8)).printable)…)"
    case .word(let word): word.printable
    }
  }
}
