@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import SessionTestSupport
import Testing

@testable import ReplayCommands

/// Histories of the real coordinator, whose decisions are made again from their records.
@Suite("Decisions of random histories")
struct ReplayedHistoryTests {
  private let seeds = Sweep("histories", takingOneOf: 5).places(of: UInt64(1)...1_000)

  /// A history: the policy, the moves, and the batches that became durable.
  private struct Made {
    let policy: SessionPolicy
    private(set) var moves: [CoordinatorMove] = []
    private(set) var run: CoordinatorRun
    private(set) var batches: [RecordedBatch] = []
    private var last: UInt64 = 0

    init(_ policy: SessionPolicy) throws {
      self.policy = policy
      run = CoordinatorRun(policy, rules: [])
      try run.open()
      takeCommits()
    }

    mutating func make(_ move: CoordinatorMove) throws {
      moves.append(move)
      try run.make(move)
      takeCommits()
    }

    /// Every commit succeeds: no other process appends, and no disk fails.
    private mutating func takeCommits() {
      for case .commit(let commit) in run.lastEffects {
        let records = commit.contents.map { content in
          last += 1
          return SessionRecord(sequence: last, time: commit.time, content: content)
        }
        if let batch = RecordedBatch(records) { batches.append(batch) }
      }
    }
  }

  /// Plays a history without what no journal records: jumps of the clock, failing disks, items that
  /// change, and processes that note no opening.
  private func made(_ seed: UInt64) throws -> Made {
    let choices = Choices(seed: seed)
    var made = try Made(choices.policy())
    for _ in 0..<80 {
      let move = choices.move(of: made.run)
      guard move.isRecorded else { continue }
      // A switch follows such a token if it waited for it, which no journal records.
      if case .answer(_, let facts) = move, facts.lifetime == 0 { continue }
      // Nor does it record that the response to a login waited for another request.
      var coordinator = made.run.coordinator
      if case .answer(let number, _) = move, coordinator.reauthenticates(by: number),
        coordinator.activity != .authenticating
      {
        continue
      }
      // Nor does it record how long a request was watched that a login made pointless.
      if case .ask(.reauthenticate) = move, made.run.coordinator.fold.intents.request != nil {
        continue
      }
      try made.make(move)
      if made.run.isClosed { break }
    }
    return made
  }

  private func proofs(of batches: [RecordedBatch]) -> JournalProofs {
    var proofs = JournalProofs()
    for batch in batches { proofs.take(batch) }
    return proofs
  }

  /// The policy of a history, read from what an opening records of it.
  private func policies(_ policy: SessionPolicy, other: PolicyChange? = nil) throws
    -> OpeningPolicies
  {
    let named = try PolicyChange(RecordedPolicy(policy).description)
    return OpeningPolicies(named: named, other: other)
  }

  @Test("RPL-10 each decision of a random history is made again, and none differs")
  func same() throws {
    var (decided, gaps) = (0, 0)
    for seed in seeds {
      let history = try made(seed)
      let proofs = proofs(of: history.batches)
      var replay = DecisionReplay(proofs, try policies(history.policy))
      var result = CorpusResult(name: "seed \(seed)", proofs)
      for batch in history.batches { result.take(batch, replay.take(batch)) }
      #expect(result.differences.isEmpty, "\(history.policy.name): \(result.text)")
      decided += result.same
      gaps += result.undecided
    }
    #expect(decided > 3 * seeds.count)
    #expect(gaps * 100 < decided, "\(gaps) of \(decided)")
  }

  @Test("RPL-10 RPL-6 what another policy decides first is what the coordinator does under it")
  func other() throws {
    let changes = [
      "attempts=1", "attempts=2", "refused=keep", "refused=clear", "exhausted=stay",
      "exhausted=end-clear", "exhausted=end-keep", "refusedToken=deliver",
    ]
    var (same, differing) = (0, 0)
    for seed in seeds {
      let history = try made(seed)
      let batches = history.batches
      let change = try PolicyChange(changes[Int(seed) % changes.count])
      var whatIf = WhatIfRun(proofs(of: batches), try policies(history.policy, other: change))
      for batch in batches where !whatIf.take(batch) { break }
      whatIf.finish()
      // The true policy with the same change, under the same moves.
      var other = try Made(change.applied(to: history.policy))
      for move in history.moves {
        guard other.batches.isPrefix(of: batches) else { break }
        try other.make(move)
      }
      guard whatIf.moved.isEmpty else { continue }
      let index = zip(other.batches, batches).prefix { $0.isEqual(to: $1) }.count
      switch whatIf.ending {
      case .same:
        same += 1
        #expect(index == batches.count, "seed \(seed), \(change.text): differs at \(index)")
      case .decides(let contents, _):
        differing += 1
        try #require(index < batches.count && index < other.batches.count)
        #expect(batches[index].first == whatIf.batch?.first, "seed \(seed), \(change.text)")
        let isSame = other.batches[index].isSame(as: contents)
        #expect(isSame, "seed \(seed), \(change.text)")
      default: continue
      }
    }
    #expect(same > seeds.count / 10, "\(same) the same")
    #expect(differing >= seeds.count / 50, "\(differing) differ")
  }
}

extension RecordedBatch {
  fileprivate func isEqual(to other: RecordedBatch) -> Bool {
    time == other.time && isSame(as: other.contents)
  }
}

extension [RecordedBatch] {
  /// Whether the other batches begin with these.
  fileprivate func isPrefix(of others: [RecordedBatch]) -> Bool {
    count <= others.count && zip(self, others).allSatisfy { $0.isEqual(to: $1) }
  }
}

extension CoordinatorRun {
  fileprivate var isClosed: Bool { coordinator.isStopped }
}

extension CoordinatorMove {
  /// Whether a journal records the consequences, so that the move can be found again.
  fileprivate var isRecorded: Bool {
    switch self {
    case .ask, .cancel, .answer, .created, .leave, .profile, .use, .fail, .revoked, .fire, .pass,
      .restart, .clearError, .callNeedsUser, .checkFailed:
      true
    case .askDuringCommit, .again, .early, .jump, .breakCommits, .breakWipe, .lock, .damage,
      .rollBack, .foreign:
      false
    }
  }
}
