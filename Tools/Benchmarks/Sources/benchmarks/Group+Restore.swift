internal import CPeers
internal import SessionJournal
internal import SessionKit

extension Group {
  /// The time from the file to a session that has its token.
  static let restore = Group(name: "restore", summary: "open and restore 10,000 events") { stage in
    let path = try stage.writeJournal(10_000)
    let secrets = FileSecretStore(folder: stage.path("secrets"))
    let place = VisitorPlace(journal: path)
    try blocking {
      let session = try await Visitor.opened(place, secrets: secrets)
      // The journal has a user and the folder no secrets, so a session looks for them for some
      // seconds.
      let end = ContinuousClock.now + .seconds(60)
      while session.activity == .loading, .now < end {
        try await Task.sleep(for: .milliseconds(50))
      }
      try await session.logout()
      try await Visitor.signIn(session)
      try await session.close()
    }
    let contenders = [
      Contest.Contender(name: "session") {
        let syncs = peers_sync_nanoseconds()
        let clock = ContinuousClock()
        let start = clock.now
        let session = try blocking { try await Visitor.opened(place, secrets: secrets) }
        let seconds = (clock.now - start) / .seconds(1)
        let synced = Double(peers_sync_nanoseconds() - syncs) / 1e9
        try expect(session.currentToken != nil, "the token was not restored")
        try blocking { try await session.close() }
        return Contest.Run(units: 1, seconds: seconds - synced)
      },
      Contest.Contender(name: "read + verify") {
        try .timing(1) {
          var seen = 0
          var reader = try JournalReader(path: path)
          try reader.visit { _, _ in
            seen += 1
            return true
          }
          try expect(seen > 10_000, "reading lost records")
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(7, 51))
    let times = rates.mapValues { $0.map { 1e3 / $0 } }
    guard let ours = times["session"], let its = times["read + verify"] else {
      throw Problem("restoring was not measured")
    }
    return Outcome(figures: [
      Figure(
        name: "restore.10000", against: "read + verify", goal: .none,
        ratio: Samples(zip(ours, its).map { $0 / $1 }), value: Samples(ours).median,
        againstValue: Samples(its).median, unit: "ms")
    ])
  }
}
