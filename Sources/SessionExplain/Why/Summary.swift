public import SessionCore

// The plain sentences of an explanation, for a reader who has never seen this project.
extension Explanation {
  /// Returns what the user experienced, what happened, whether a new sign-in followed, what the records
  /// rule out, and what to do.
  ///
  /// It is a paragraph of two to five sentences, without an identifier of a user. *Probably* and
  /// *possibly* mark a cause that is likely or possible; a proven cause has no such word.
  public func summary(in language: SessionLanguage = .english) -> String {
    summaryLines(in: language).joined(separator: " ")
  }

  /// Returns the sentences in groups: what happened, whether a new sign-in followed, what is ruled
  /// out, and what to do.
  package func summaryLines(in language: SessionLanguage) -> [String] {
    var lines = [opening(in: language) + "."]
    if signedInAgain != nil { lines.append(Self.again(in: language)) }
    let end = earlierEnd ?? self
    if let earlierEnd { lines.append(Self.earlier(earlierEnd, in: language)) }
    // The user did sign out, after that end.
    let nouns = end.excluded(in: language, besides: earlierEnd == nil ? nil : .userAction)
    if !nouns.isEmpty { lines.append(Excluded.sentence(nouns, in: language)) }
    let label =
      switch language {
      case .english: "Fix"
      case .spanish: "Solución"
      case .portuguese: "Solução"
      }
    lines.append("\(label): \(end.cause.plain(in: language).fix).")
    return lines
  }

  /// Returns what the user experienced and what happened, without a period.
  package func opening(in language: SessionLanguage) -> String {
    let hedge = certainty.hedge(in: language).map { " (\($0))" } ?? ""
    let story = cause.plain(in: language).story
    return cause.experience.text(in: language) + hedge + ": "
      + WhyFormatter.fill(story, headline) { $0.plainText(in: language) } + shownCode(in: language)
  }

  private func shownCode(in language: SessionLanguage) -> String {
    guard let code else { return "" }
    return language == .english ? " (code \(code))" : " (código \(code))"
  }

  /// The end that a logout settled, if it has another cause.
  private var earlierEnd: Explanation? {
    root.first.flatMap { $0.cause == cause ? nil : $0 }
  }

  private static func again(in language: SessionLanguage) -> String {
    // It may be another user.
    switch language {
    case .english: "A new sign-in followed."
    case .spanish: "Después hubo un nuevo inicio de sesión."
    case .portuguese: "Depois disso, houve um novo login."
    }
  }

  private static func earlier(_ end: Explanation, in language: SessionLanguage) -> String {
    let word =
      switch language {
      case .english: "Earlier"
      case .spanish: "Antes"
      case .portuguese: "Antes"
      }
    return "\(word), \(end.opening(in: language).lowercasedStart)."
  }

  private func excluded(in language: SessionLanguage, besides known: Excluded?) -> [String] {
    // The findings about an expiry are in its own explanation.
    let isSame = root.first?.cause == cause && root.first?.certainty == certainty
    let findings =
      isSame
      ? self.findings.ruledOut + (root.first?.findings.ruledOut ?? []) : self.findings.ruledOut
    let topics = Set(findings.filter { $0.certainty == .proven }.compactMap(\.what.topic))
    return Excluded.allCases.filter { $0 != known && topics.contains($0.rawValue) }
      .prefix(Excluded.most)
      .map { $0.noun(in: language) }
  }
}

// One line and the whole text, in English.
extension Explanation {
  /// One line for a ticket: the time, what happened, the cause, its certainty, the app and the user.
  ///
  /// The time is in UTC. The user is a pseudonym.
  public var oneLine: String { WhyText(zone: .utc).oneLine(self) }

  /// The whole text: the summary, then the evidence, as `sessionreplay why --full` prints it.
  ///
  /// It has several lines, each with a line feed at its end. Times are in UTC. It names roles,
  /// schools and the user, as the journal does.
  public var text: String { WhyText(zone: .utc, isFull: true).text(self) }
}

extension Value {
  /// The value in a summary.
  fileprivate func plainText(in language: SessionLanguage) -> String {
    guard case .counted(let number, let noun) = self, language != .english else {
      return WhyFormatter.text(self, .utc)
    }
    let translated =
      switch (noun, language) {
      case ("attempt", .spanish): "intento"
      case ("attempt", .portuguese): "tentativa"
      default: noun
      }
    return count(number, translated)
  }
}

extension String {
  /// The text with a small first letter.
  package var lowercasedStart: String { prefix(1).lowercased() + dropFirst() }
}
