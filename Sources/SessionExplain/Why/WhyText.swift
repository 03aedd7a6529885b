@_spi(Internals) import SessionCore

/// The text of an explanation.
package struct WhyText {
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

  /// Returns the lines of the text.
  ///
  /// No line has a character that moves a terminal's cursor, except in the codes for colours.
  package func lines(_ explanation: Explanation) -> [String] {
    var lines = [headline(explanation)]
    lines += chain(explanation)
    let inferred = explanation.inferred
    lines += section("Proven", explanation.proven.map(sentence))
    lines += section("Likely", inferred.filter { $0.certainty >= .likely }.map(sentence))
    lines += section("Possible", inferred.filter { $0.certainty == .possible }.map(sentence))
    lines += section("Ruled out", explanation.ruledOut.map(ruledOut))
    lines += section("Also seen", explanation.alsoSeen.map(graded))
    lines += section("Not told", explanation.untold.map { fill($0.what.sentence, $0.values) })
    lines += section("Do", explanation.advice.map { fill($0.what.sentence, $0.values) })
    if let again = explanation.signedInAgain {
      lines += section("Since then", ["signed in again at @\(again)"])
    }
    if explanation.otherEnds > 0 {
      let isOne = explanation.otherEnds == 1
      lines += section(
        "Others",
        [
          "\(count(explanation.otherEnds, "other end")) \(isOne ? "comes" : "come") before this "
            + "one; --all explains each"
        ])
    }
    for root in explanation.root { lines += [""] + self.lines(root) }
    return lines
  }

  /// Returns the headline, such as `Expired at 2026-11-21 14:00:05.205Z (seq 412): … (likely)`.
  package func headline(_ explanation: Explanation) -> String {
    var text = fill(explanation.cause.headline, explanation.headline)
    if explanation.certainty != .proven { text += " (\(explanation.certainty))" }
    guard let time = explanation.time, let sequence = explanation.sequence else {
      return style.bold(text)
    }
    let place = "\(zone.text(time)) (seq \(sequence))"
    guard let colon = text.firstIndex(of: ":") else {
      return style.bold("\(text), at \(place)")
    }
    return style.bold("\(text[..<colon]) at \(place)\(text[colon...])")
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
        change.request == 0 ? nil : "answering @\(change.request)",
      ])
    case .event(let event): return EventFormatter.text(event, at: fact.time)
    case .note(let note): return NoteFormatter.text(note, at: fact.time)
    case .snapshot, .unknown: return "of a newer version"
    }
  }

  // MARK: Sections

  private func section(_ label: String, _ sentences: [String]) -> [String] {
    sentences.enumerated().map { index, sentence in
      style.dim((index == 0 ? label : "").padded(to: 10)) + " " + sentence
    }
  }

  private func sentence(_ finding: Finding) -> String {
    fill(finding.what.sentence, finding.values)
  }

  private func ruledOut(_ finding: Finding) -> String {
    "\(finding.what.topic ?? ""): \(sentence(finding))"
  }

  private func graded(_ finding: Finding) -> String {
    finding.certainty == .proven ? sentence(finding) : "\(finding.certainty): \(sentence(finding))"
  }

  /// Returns a sentence with values in its places.
  package func fill(_ sentence: String, _ values: [Value]) -> String {
    WhyFormatter.fill(sentence, values, zone)
  }
}

/// A formatter of sentences with places for values.
enum WhyFormatter {
  static let place = "{}"

  static func fill(_ sentence: String, _ values: [Value], _ zone: DisplayZone) -> String {
    var text = ""
    var rest = sentence[...]
    var values = values[...]
    while let brace = rest.firstIndex(of: "{") {
      text += rest[..<brace]
      rest = rest[brace...].dropFirst(2)
      if let value = values.popFirst() { text += self.text(value, zone) }
    }
    return text + rest
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
