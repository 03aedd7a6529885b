@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

@Suite("Properties of the fold")
struct FoldPropertyTests {
  /// Folds and skips rejected records; fails if a rejection changed anything.
  private func fold(
    _ records: some Sequence<SessionRecord>, from start: SessionFold = SessionFold(),
    _ choices: Choices
  ) throws -> SessionFold {
    var fold = start
    for record in records {
      let before = fold
      do { try fold.apply(record) } catch {
        try choices.require(fold == before, "the rejected \(record.line) changed the fold")
      }
      choices.step(record.line, state: fold.state.line)
    }
    return fold
  }

  @Test("F1 STA-1 fold(a + b) = fold(fold(a), b) for every history")
  func parts() {
    expect(
      Property(
        "F1 fold of a and b is fold of b on fold of a", cases: 200, regressions: RegressionFolder()
      ).check { choices in
        let history = History.any()(choices)
        let whole = try fold(history.records, choices)
        let cut = choices.draw(in: 0...history.records.count)
        let first = try fold(history.records.prefix(cut), choices)
        let second = try fold(history.records.dropFirst(cut), from: first, choices)
        try choices.require(second == whole, "cut after \(cut), the fold is another")
      })
  }

  @Test("F2 STA-1 TST-1 a legal history folds completely, and the model agrees after every record")
  func legal() {
    expect(
      Property("F2 a legal history folds whole", cases: 200, regressions: RegressionFolder()).check
      { choices in
        var (fold, model) = (SessionFold(), SessionModel())
        for record in History.legal()(choices).records {
          do { try fold.apply(record) } catch {
            try choices.require(false, "\(record.line): \(error)")
          }
          if let event = record.event { model.take(event) }
          choices.step(record.line, state: fold.state.line)
          let disagreement = model.disagreement(with: fold)
          try choices.require(disagreement == nil, disagreement ?? "")
          try choices.require(fold.sequence == record.sequence, "sequence \(fold.sequence)")
        }
      })
  }

  @Test("F3 STA-2 evolve never traps, and accepts or rejects any event as the model does")
  func total() {
    expect(
      Property("F3 evolve never traps", cases: 200, regressions: RegressionFolder()).check {
        choices in
        var (fold, model) = (SessionFold(), SessionModel())
        for record in History.any()(choices).records {
          guard let event = record.event else { continue }
          let (before, objection) = (fold, model.objection(to: event))
          choices.step(event.line, state: fold.state.line)
          var rejection: SessionRejection.Reason?
          do throws(SessionFold.Failure) {
            try fold.apply(record)
            model.take(event)
          } catch {
            if case .illegal(let reason, _) = error { rejection = reason.reason }
            try choices.require(fold == before, "a rejection changed the fold")
          }
          try choices.require(
            rejection == objection,
            "the fold says \(rejection?.rawValue ?? "yes"), the model "
              + (objection?.rawValue ?? "yes"))
          _ = before.state.allows(event)
        }
      })
  }

  @Test("F4 STA-1 generations never repeat across logout and expiry")
  func generations() {
    expect(
      Property("F4 generations never repeat", cases: 100, regressions: RegressionFolder()).check {
        choices in
        var (fold, announced) = (SessionFold(), Set<Generation>())
        for record in History.any()(choices).records {
          do throws(SessionFold.Failure) { try fold.apply(record) } catch { continue }
          guard let generation = record.event?.announcedToken?.generation else { continue }
          try choices.require(
            announced.insert(generation).inserted, "\(generation) was announced twice")
          try choices.require(fold.generation == generation, "\(fold.generation) is the newest")
        }
      })
  }

  @Test("F5 STA-2 evolve without the fold rejects what the model rejects")
  func alone() {
    expect(
      Property("F5 evolve alone decides as the model", cases: 200, regressions: RegressionFolder())
        .check { choices in
          var (fold, model) = (SessionFold(), SessionModel())
          for record in History.any()(choices).records {
            guard let event = record.event else { continue }
            let (state, objection) = (fold.state, model.objection(to: event))
            choices.step(event.line, state: state.line)
            var successor: SessionState?
            do throws(SessionRejection) {
              successor = try state.evolved(by: event, at: record.time)
            } catch { choices.label("refused") }
            try choices.require(
              state.allows(event) == (successor != nil), "what it allows is not what it does")
            // Without a signed-in user, only the fold remembers how old a token is.
            if model.state == .authenticated || objection != .staleGeneration {
              try choices.require(
                (successor == nil) == (objection != nil),
                "it says \(successor?.line ?? "no"), the model \(objection?.rawValue ?? "yes")")
            }
            do throws(SessionFold.Failure) { try fold.apply(record) } catch { continue }
            model.take(event)
            try choices.require(fold.state == successor, "the fold is at \(fold.state.line)")
          }
        })
  }

  @Test("F6 STA-1 a replay from the journal's bytes results in the fold of the writer")
  func replay() {
    expect(
      Property(
        "F6 replay needs a journal's bytes alone", cases: 100, regressions: RegressionFolder()
      ).check { choices in
        let (disk, path) = (SimulatedDisk(), "/session.journal")
        let journal = try Journal.open(at: path, options: .on(disk))
        var live = SessionFold()
        for record in History.legal()(choices).records {
          choices.step(record.line, state: live.state.line)
          let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
          _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
          try live.apply(record)
        }
        let (calls, bytes) = (disk.callCount, disk.contents(of: path))
        for _ in 0..<2 {
          var reader = try JournalReader(path: path, on: disk)
          var fold = SessionFold()
          while let raw = try reader.next() {
            try fold.apply(
              SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload))
          }
          try choices.require(fold == live, "replayed, it is \(fold.state.line)")
        }
        let looks: [DiskOperation] = [.open, .inspect, .inspectPath, .read, .nextData]
        let others = disk.trace.filter { $0.number >= calls && !looks.contains($0.operation) }
        try choices.require(others.isEmpty, "replay made these calls: \(others)")
        try choices.require(disk.contents(of: path) == bytes, "replay changed the journal")
      })
  }
}

/// Every short sequence of events, folded and compared with the model.
@Suite("Exhaustive: the fold")
struct ExhaustiveFoldTests {
  private typealias Letter = @Sendable (SessionModel) -> SessionEvent

  /// One event of each kind, legal in some state.
  private static let kinds: [Letter] = [
    { .login(as: $0.user ?? "ada", token: $0.newest + 1) }, { .refreshed(to: $0.newest + 1) },
    { .refreshFailed(.server, of: $0.token) },
    { .switched(to: .plainPrincipal, token: $0.newest + 1) }, { _ in .expired(.inactivity) },
    { _ in .loggedOut() },
  ]

  /// The same and similar ones: another user, an old token, a failure of another token.
  private static let variants: [Letter] =
    kinds + [
      { .login(as: "bob", token: $0.newest + 2, isRefreshable: false) },
      { .login(as: "ada", token: $0.newest) }, { .refreshed(to: $0.newest) },
      { .refreshFailed(.noReply, of: $0.newest + 1) }, { _ in .switched(to: .plainTeacher) },
      { .switched(to: .plainTeacher, token: $0.token) },
    ]

  /// Walks the tree of sequences; a common beginning is folded once.
  private func walk(
    _ letters: [Letter], depth: Int, _ fold: SessionFold, _ model: SessionModel,
    _ path: [SessionEvent], _ count: inout Int
  ) throws {
    count += 1
    guard depth > 0 else { return }
    for letter in letters {
      let event = letter(model)
      let record = SessionRecord(
        sequence: fold.sequence + 1, time: .plainStart, content: .event(event))
      var (nextFold, nextModel) = (fold, model)
      var rejection: SessionRejection.Reason?
      do throws(SessionFold.Failure) { try nextFold.apply(record) } catch {
        if case .illegal(let illegal, _) = error { rejection = illegal.reason }
      }
      nextModel.take(event)
      let path = path + [event]
      let isAgreed =
        rejection == model.objection(to: event) && nextModel.disagreement(with: nextFold) == nil
        && (rejection == nil || nextFold == fold)
      try #require(isAgreed, "\(path.map(\.line)): \(rejection?.rawValue ?? "taken")")
      try walk(letters, depth: depth - 1, nextFold, nextModel, path, &count)
    }
  }

  @Test(
    "E1 STA-2 for every sequence of the six kinds fold and model agree, and rejections change nothing"
  )
  func kinds() throws {
    var count = 0
    try walk(
      Self.kinds, depth: Scale.isOptimised ? 8 : 6, SessionFold(), SessionModel(), [], &count)
    #expect(count == (Scale.isOptimised ? 2_015_539 : 55_987))
    print("E1: \(count) sequences of events folded")
  }

  @Test(
    "E2 STA-2 STA-6 fold and model agree for every sequence of twelve events, including stale and foreign ones"
  )
  func variants() throws {
    var count = 0
    try walk(
      Self.variants, depth: Scale.isOptimised ? 5 : 4, SessionFold(), SessionModel(), [], &count)
    #expect(count == (Scale.isOptimised ? 271_453 : 22_621))
    print("E2: \(count) sequences of events folded")
  }
}

/// The depth of the exhaustive tests: deeper in an optimized build.
enum Scale {
  #if DEBUG
  static let isOptimised = false
  #else
  static let isOptimised = true
  #endif
}
