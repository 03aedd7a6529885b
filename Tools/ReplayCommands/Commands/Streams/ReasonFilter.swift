internal import SessionCore

/// Which records are shown by why they say that something ended or failed.
struct ReasonFilter: Equatable, Sendable {
  /// In small letters.
  private var words: Set<String> = []

  /// Every word that this version has for a reason; a server's own codes come to these.
  static let known: [String] = {
    var seen: Set<String> = []
    let all =
      ExpiryReason.words + LogoutReason.words + RequestFailure.Kind.words
      + SessionNote.WipeCause.words + RevocationOutcome.words + SessionNote.ContinuationCause.words
      + StorageCause.words
    return all.filter { seen.insert($0).inserted }
  }()

  /// Reads words with commas between them: reasons, or a server's codes.
  ///
  /// A word that is no reason is a server's code if it is spelled like one: with a capital letter, a
  /// digit or a sign such as `_`. Any other word is refused, and so is one that is nearly a reason.
  init(_ text: String) throws(ToolError) {
    for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
      let isKnown = Self.known.contains { $0.lowercased() == word.lowercased() }
      let isCode =
        RequestFailure.standardCodes.contains(word)
        || !word.isEmpty && !word.contains(where: \.isLowercase)
      let near = isKnown || isCode ? nil : Suggestion.nearest(to: word, in: Self.known)
      let isPlain = word.allSatisfy { $0.isLowercase }
      guard !word.isEmpty, near == nil, isKnown || !isPlain else {
        throw .usage(
          "badReason", "There is no reason '\(word.shortened)'.",
          next: near.map { "--reason \($0)" }
            ?? "one of \(Self.known.joined(separator: ", ")); or a server's code in capitals")
      }
      words.insert(word.lowercased())
    }
  }

  func includes(_ content: SessionRecord.Content) -> Bool {
    switch content {
    case .event(let event): includes(event)
    case .note(let note): includes(note)
    case .snapshot, .unknown: false
    }
  }

  private func includes(_ event: SessionEvent) -> Bool {
    switch event {
    case .refreshFailed(let refresh): includes(refresh.failure)
    case .sessionExpired(let expiry): includes(expiry.reason.description)
    case .logout(let logout): includes(logout.reason.description)
    case .login, .refreshSucceeded, .contextSwitched: false
    }
  }

  private func includes(_ note: SessionNote) -> Bool {
    switch note {
    case .requestEnded(let ended): includes(ended.failure)
    case .revocationSettled(let settled): includes(settled.outcome.description)
    case .secretsWiped(let cause): includes(cause.description)
    case .continued(let link): includes(link.cause.description)
    case .answerDropped(let dropped): includes(dropped.cause.description)
    case .storageFailed(let failed): includes(failed.cause.description)
    case .opened, .closed, .tailCut, .requestSent, .tokenRecovered, .revocationPending,
      .itemUnreadable, .clockSkew, .localDataCleared, .storageRecovered:
      false
    }
  }

  private func includes(_ failure: RequestFailure) -> Bool {
    includes(failure.kind.description) || failure.serverCode.map(includes) == true
  }

  private func includes(_ word: String) -> Bool { words.contains(word.lowercased()) }
}
