internal import CPeers
internal import Foundation
internal import SessionKit
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

extension Group {
  /// What many open sessions of one process cost; each count comes from a process of its own.
  static let many = Group(name: "many", summary: "many open sessions in one process") { stage in
    #if os(Linux)
    var outcome = Outcome()
    for count in stage.isQuick ? [100, 1_000] : [1_000, 10_000] {
      outcome.figures += try measure(count, in: stage.path("many-\(count)"))
    }
    return outcome
    #else
    return Outcome(skipped: ["many: only Linux tells threads and descriptors by files"])
    #endif
  }

  private static func measure(_ count: Int, in folder: String) throws -> [Figure] {
    let costs = try ManyChild.measure(count, in: folder)
    func figure(
      _ name: String, _ value: Double, goal: Double, _ unit: String, here: Double, there: Double
    ) -> Figure {
      Figure(
        name: "many.\(name).\(count)", against: "one open session", goal: .atMost(goal),
        ratio: Samples([value]), value: here, againstValue: there, unit: unit)
    }
    let (one, all, others) = (costs.one, costs.all, Double(count - 1))
    return [
      figure(
        "threads", costs.mostThreads - one.threads, goal: 16, "threads at most; more",
        here: costs.mostThreads, there: one.threads),
      figure(
        "descriptors", (all.descriptors - one.descriptors) / others, goal: 1.01,
        "descriptors; each", here: all.descriptors, there: one.descriptors),
      figure(
        "memory", (all.kibibytes - one.kibibytes) / others, goal: 24, "KiB; each",
        here: all.kibibytes, there: one.kibibytes),
      figure(
        "idle", costs.idleSeconds, goal: 0.02, "s of CPU in 10 s", here: costs.idleSeconds,
        there: 0),
      Figure(
        name: "many.open.\(count)", against: "one open session", goal: .none,
        ratio: Samples([costs.openSeconds / others / costs.firstSeconds]),
        value: 1e3 * costs.openSeconds / others, againstValue: 1e3 * costs.firstSeconds,
        unit: "ms to open and sign in"),
    ]
  }
}

/// A child process that opens many sessions, signs each in, and prints what they cost.
enum ManyChild {
  /// What the system tells of this process.
  struct Costs: Codable {
    let threads: Double
    let descriptors: Double
    let kibibytes: Double
  }

  /// The costs of one session and of all, the threads while they opened and signed in, the times that
  /// this took, and the processor time of ten idle seconds.
  struct Report: Codable {
    let one: Costs
    let all: Costs
    let mostThreads: Double
    let firstSeconds: Double
    let openSeconds: Double
    let idleSeconds: Double
  }

  /// Runs the child process.
  static func measure(_ count: Int, in folder: String) throws -> Report {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["--many", "\(count)", folder]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Problem("the process of \(count) sessions ended with \(process.terminationStatus)")
    }
    return try JSONDecoder().decode(Report.self, from: data)
  }

  /// Opens the sessions and prints the report.
  static func run(_ count: Int, in folder: String) throws {
    try raiseFileLimit()
    let places = (0..<count).map { VisitorPlace(journal: "\(folder)/\($0)/session.journal") }
    let clock = ContinuousClock()
    let start = clock.now
    let first = try open(places.prefix(1))
    let firstSeconds = (clock.now - start) / .seconds(1)
    let one = try costs()
    let meter = ThreadMeter()
    let begun = clock.now
    let others = try open(places.dropFirst())
    let openSeconds = (clock.now - begun) / .seconds(1)
    let most = meter.end()
    // The threads end, and what they have freed is given back.
    Thread.sleep(forTimeInterval: 15)
    peers_release_memory()
    let all = try costs()
    let before = try processorSeconds()
    Thread.sleep(forTimeInterval: 10)
    let idle = try processorSeconds() - before
    let report = Report(
      one: one, all: all, mostThreads: Double(most), firstSeconds: firstSeconds,
      openSeconds: openSeconds, idleSeconds: idle)
    FileHandle.standardOutput.write(try JSONEncoder().encode(report))
    try blocking {
      for session in first + others { try await session.close() }
    }
  }

  /// Opens sessions as a server does, 64 at a time, and signs each in.
  private static func open(_ places: ArraySlice<VisitorPlace>) throws -> [Session] {
    try blocking {
      try await withThrowingTaskGroup(of: Session.self) { group in
        var sessions: [Session] = []
        var rest = places
        for place in rest.prefix(64) { group.addTask { try await visit(place) } }
        rest = rest.dropFirst(64)
        while let session = try await group.next() {
          sessions.append(session)
          if let place = rest.popFirst() { group.addTask { try await visit(place) } }
        }
        return sessions
      }
    }
  }

  private static func visit(_ place: VisitorPlace) async throws -> Session {
    let folder = place.directory.path(percentEncoded: false)
    let session = try await Visitor.opened(place, secrets: FileSecretStore(folder: folder))
    try await Visitor.signIn(session)
    return session
  }

  private static func costs() throws -> Costs {
    Costs(
      threads: Double(try Child.statusField("Threads")),
      descriptors: Double(
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count),
      kibibytes: Double(try Child.statusField("RssAnon")))
  }

  private static func processorSeconds() throws -> Double {
    var used = rusage()
    #if canImport(Glibc)
    let own = __rusage_who_t(RUSAGE_SELF.rawValue)
    #else
    let own = RUSAGE_SELF
    #endif
    guard getrusage(own, &used) == 0 else { throw Problem("getrusage: errno \(errno)") }
    return [used.ru_utime, used.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
  }

  private static func raiseFileLimit() throws {
    var limit = rlimit()
    #if canImport(Glibc)
    let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let files = RLIMIT_NOFILE
    #endif
    guard getrlimit(files, &limit) == 0 else { throw Problem("getrlimit: errno \(errno)") }
    limit.rlim_cur = limit.rlim_max
    guard setrlimit(files, &limit) == 0 else { throw Problem("setrlimit: errno \(errno)") }
  }
}

/// The most threads that this process has had, by a look each five milliseconds.
private final class ThreadMeter: Sendable {
  private let state = Mutex((most: 0, isOver: false))

  init() {
    let state = self
    Thread.detachNewThread { while state.look() { usleep(5_000) } }
  }

  private func look() -> Bool {
    let count: Int
    // A look that fails counts nothing; the next one follows.
    do { count = try Child.statusField("Threads") } catch { count = 0 }
    return state.withLock { state in
      state.most = max(state.most, count)
      return !state.isOver
    }
  }

  /// Ends the looks; the thread that looked is not counted.
  func end() -> Int {
    state.withLock { state in
      state.isOver = true
      return state.most - 1
    }
  }
}
