import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// Real signals, files and servers: they check what the simulation assumes of the system.
@Suite("Processes that are killed at any moment", .timeLimit(.minutes(5)))
struct DeathTests {
  /// Fifteen rounds in a whole run, times SESSION_CASES.
  private static var rounds: Int {
    Sweep("rounds of deaths", takingOneOf: 3).cases(of: 15)
      * (ProcessInfo.processInfo.environment["SESSION_CASES"].flatMap(Int.init) ?? 1)
  }

  /// The acknowledged commands, and the command that was open at the death.
  private struct Known {
    var kind = SessionState.Kind.unauthenticated
    var generation: UInt64 = 0
    var open: String?

    /// The possible states of the session.
    var legal: Set<SessionState.Kind> {
      switch open {
      case "login": [kind, .authenticated]
      case "logout": [kind, .unauthenticated]
      default: [kind]
      }
    }
  }

  @Test(
    "REF-7 OUT-1 RES-1 LOG-16 killed at any moment, a session keeps what it acknowledged, a good token, and every end"
  )
  func killed() async throws {
    let bench = try ProcessBench {
      // The session is not responsible for a token that was lost on its way.
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    var random = SplitMix(seed: 7)
    var known = Known()
    var answers = 0
    var (round, patience) = (0, UInt64(1))
    // On a busy machine some die before they answer. The next ones live longer, until enough
    // answers and a logout are there. The time limit of the suite ends runs without them.
    while round < Self.rounds || answers <= Self.rounds / 2 || bench.server.count(of: .logout) == 0
    {
      round += 1
      let told = try await live(bench, &known, &random, patience)
      answers += told
      if told == 0 { patience *= 2 }
      known = try await judge(bench, known)
    }
    #expect(try bench.count(of: .sessionExpired) == 0)
    try bench.check()
  }

  /// Runs one process until it dies; returns the number of its answers.
  private func live(
    _ bench: ProcessBench, _ known: inout Known, _ random: inout SplitMix, _ patience: UInt64
  ) async throws -> Int {
    let worker = try bench.start()
    try worker.say("die \((60_000 + random.next() % 340_000) * patience)")
    guard let opened = await worker.lastAsk("open") else {
      try await worker.ended()
      return 0
    }
    #expect(opened.error == nil, "\(opened)")
    var (answers, logins) = (0, 0)
    while true {
      // A machine that is no longer busy allows a long life, with too many logins for the limit.
      let line = line(known, &random, mayLogIn: logins < 5)
      if line == "logout" || line.hasPrefix("again") { logins += 1 }
      // The server cannot be reached at once at every other logout.
      if line == "logout", random.next() % 2 == 0 {
        bench.server.failNext(.logout, with: .status(503))
      }
      known.open = line.split(separator: " ").first.map(String.init)
      guard let answer = await worker.lastAsk(line) else { break }
      #expect(answer.error == nil, "\(line): \(answer)")
      answers += 1
      known.open = nil
      known.kind = answer.state == "authenticated" ? .authenticated : .unauthenticated
      known.generation = answer.generation ?? 0
    }
    try await worker.ended()
    return answers
  }

  private func line(_ known: Known, _ random: inout SplitMix, mayLogIn: Bool) -> String {
    let user = LoopbackUser.sample
    guard known.kind == .authenticated else { return "login \(user.email) \(user.password)" }
    let context = random.next() % 2 == 0 ? LoopbackContext.teacher : .coordinator
    switch random.next() % 5 {
    case 0: return mayLogIn ? "logout" : "refresh"
    case 4: return mayLogIn ? "again \(user.email) \(user.password)" : "refresh"
    case 1: return "switch \(context.roleID) \(context.schoolID)"
    default: return "refresh"
    }
  }

  @Test("OUT-7 killed at any moment of a local logout, a session revokes nothing")
  func killedLeaving() async throws {
    var random = SplitMix(seed: 7)
    for _ in 0..<(Self.rounds / 5) {
      let bench = try ProcessBench()
      try await bench.signIn()
      let worker = try bench.start()
      _ = await worker.lastAsk("open")
      try worker.say("die \(random.next() % 8_000)")
      let left = await worker.lastAsk("leave")
      #expect(left?.error == nil)
      try await worker.ended()
      let session = try await Session.open(
        SessionConfiguration(
          journal: bench.journal, secrets: FileSecretStore(folder: bench.secrets),
          backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), policy: .edu(.development)))
      if left != nil { #expect(session.state == .unauthenticated) }
      // Either nothing was done and the token is good, or the session and its items are gone.
      if session.isAuthenticated { try await session.refresh() }
      try await session.close()
      #expect(bench.server.count(of: .logout) == 0)
      #expect(!(try bench.records().map(\.name)).contains("revocationPending"))
      try bench.check()
    }
  }

  @Test(
    "LOG-9 REF-7 killed at any moment of an adoption, the tokens are good and adopted, or still to adopt"
  )
  func killedAdopting() async throws {
    var random = SplitMix(seed: 9)
    for _ in 0..<(Self.rounds / 5) {
      let bench = try ProcessBench()
      let configuration = SessionConfiguration(
        journal: bench.journal, secrets: FileSecretStore(folder: bench.secrets),
        backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), policy: .edu(.development))
      let request = try #require(configuration.http.loginRequest(.sample))
      let old = try configuration.http.readLogin(try await URLSessionTransport().send(request))
      let refresh = try #require(old.refresh)
      let worker = try bench.start()
      _ = await worker.lastAsk("open")
      try worker.say("die \(random.next() % 8_000)")
      let adopted = await worker.lastAsk("adopt \(old.access.plaintext) \(refresh.plaintext)")
      #expect(adopted?.error == nil)
      try await worker.ended()
      let session = try await Session.open(configuration)
      if adopted != nil { #expect(session.isAuthenticated) }
      let isIn = session.isAuthenticated
      let again = try await session.adopt(AdoptedTokens(access: old.access, refresh: refresh))
      #expect(again != isIn)
      #expect(try await session.refresh().generation == Generation(2))
      #expect(bench.server.count(of: .logout) == 0)
      try await session.close()
      try bench.check()
    }
  }

  /// Opens the session again and compares it with the acknowledged answers.
  private func judge(_ bench: ProcessBench, _ known: Known) async throws -> Known {
    let pending = try bench.fold().intents.revocations.count
    let told = bench.server.count(of: .logout)
    let session = try await Session.open(
      SessionConfiguration(
        journal: bench.journal, secrets: FileSecretStore(folder: bench.secrets),
        backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), policy: .edu(.development)))
    let kind = session.state.kind
    // Every pending revocation is sent now.
    #expect(await bench.server.received(.logout, count: told + pending))
    #expect(known.legal.contains(kind), "it is \(kind) behind \(known)")
    if kind == .authenticated {
      let token = try #require(session.currentToken)
      if known.kind == .authenticated { #expect(token.generation.number >= known.generation) }
      // The server accepts the newest stored token.
      let next = try await session.refresh()
      #expect(next.generation > token.generation)
    } else {
      #expect(session.currentToken == nil)
      let token = bench.folder.appending(path: "secrets/token").path
      #expect(!FileManager.default.fileExists(atPath: token))
    }
    let shown = session.currentToken?.generation.number ?? 0
    try await session.close()
    return Known(kind: kind, generation: shown)
  }
}
