import ChildProcesses
import Foundation
import SessionTestKit
import Synchronization
import Testing

/// A worker in a process of its own: it reads commands and writes answers as lines.
final class WorkerProcess {
  /// A worker's answer to one line.
  struct Answer: Decodable, Equatable {
    var number: Int
    var command: String
    var state: String
    var activity: String?
    var generation: UInt64?
    var status: Int?
    var error: String?
  }

  private let process: ChildProcess
  private let input = Pipe()
  private let book = AnswerBook()
  private let end = Milestone()
  private var lines = 0

  /// A worker; `isIsolated` starts it in a PID namespace of its own, as process 1.
  init(_ arguments: [String], isIsolated: Bool = false) throws {
    let binary = try Self.binary()
    let output = Pipe()
    // The handle and not the pipe: the end that is read stays open here too. So a line that is written to
    // a dead worker does not kill this process with SIGPIPE.
    process = try ChildProcess(
      isIsolated ? Namespaces.tool : binary,
      isIsolated ? Namespaces.options + [binary] + arguments : arguments,
      input: .file(input.fileHandleForReading), output: .pipe(output))
    let (book, end) = (book, end)
    process.whenEnded { end.reach() }
    let handle = output.fileHandleForReading
    Thread.detachNewThread {
      book.read(handle)
      book.end()
    }
  }

  deinit { process.send(SIGKILL) }

  /// Sends a command; returns the number of its answer.
  @discardableResult
  func say(_ line: String) throws -> Int {
    lines += 1
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    return lines
  }

  /// The answer to a line, waited for.
  func answer(
    to number: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    try #require(
      await book.answer(to: number), "line \(number) is not answered",
      sourceLocation: sourceLocation)
  }

  /// Sends a command and waits for the answer.
  func ask(
    _ line: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Answer {
    try await answer(to: try say(line), sourceLocation: sourceLocation)
  }

  /// Suspends it; when this returns none of its threads runs.
  func suspend() {
    #expect(process.send(SIGSTOP))
    var status = siginfo_t()
    #expect(waitid(P_PID, id_t(process.identifier), &status, WSTOPPED | WNOWAIT) == 0)
  }

  /// Resumes it.
  func resume() {
    #expect(process.send(SIGCONT))
  }

  /// Sends a command and waits for the answer; `nil` if it dies first.
  func lastAsk(_ line: String) async -> Answer? {
    do { return await book.answer(to: try say(line)) } catch {
      // The line has no reader any more.
      return nil
    }
  }

  /// Sends it a signal.
  func send(_ signal: Int32) { #expect(process.send(signal)) }

  /// Waits until the process no longer exists; returns how it ended.
  @discardableResult
  func ended() async throws -> ChildProcess.Status {
    try #require(await end.isReached(), "it does not end")
    return process.status
  }

  /// Kills it; when this returns, the process no longer exists.
  func end() async throws {
    #expect(process.send(SIGKILL))
    try await ended()
  }

  /// The program, which is built together with the tests.
  private static func binary() throws -> String {
    var folders = [URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
    folders.append(Bundle.main.bundleURL)
    folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    let found = folders.map {
      $0.absoluteURL.appending(path: "sessionworker").path(percentEncoded: false)
    }
    .first { FileManager.default.isExecutableFile(atPath: $0) }
    return try #require(found, "sessionworker is not built beside the tests")
  }
}

/// PID namespaces, which the system may refuse to make.
enum Namespaces {
  static let tool = "/usr/bin/unshare"
  /// If the tool is killed, the process in the namespace is killed too.
  static let options = ["--pid", "--fork", "--mount-proc", "--kill-child=SIGKILL"]

  /// Whether this system lets a test make them.
  static let arePermitted: Bool = {
    guard FileManager.default.isExecutableFile(atPath: tool) else { return false }
    do {
      return try ChildProcess.run(tool, options + ["/bin/true"], errors: .dropped).code == 0
    } catch {
      return false
    }
  }()
}

/// An event that is waited for, with a deadline that reveals a hang.
private final class Milestone: Sendable {
  private struct State {
    var isReached = false
    var waiters: [CheckedContinuation<Bool, Never>] = []
  }

  private let state = Mutex(State())

  func reach() { resume(true) }

  func isReached() async -> Bool {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if !state.isReached { state.waiters.append(continuation) }
        return state.isReached
      }
      if isReached { return continuation.resume(returning: true) }
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60)) { self.resume(false) }
    }
  }

  private func resume(_ isReached: Bool) {
    let waiters = state.withLock { state in
      state.isReached = state.isReached || isReached
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: isReached) }
  }
}

/// The answers of a worker, as they come.
private final class AnswerBook: Sendable {
  private struct State {
    var answers: [Int: WorkerProcess.Answer] = [:]
    var milestones: [Int: Milestone] = [:]
    var isOver = false

    mutating func milestone(_ number: Int) -> Milestone {
      let milestone = milestones[number] ?? Milestone()
      if isOver { milestone.reach() }
      milestones[number] = milestone
      return milestone
    }
  }

  private let state = Mutex(State())

  func answer(to number: Int) async -> WorkerProcess.Answer? {
    let milestone = state.withLock { $0.milestone(number) }
    guard await milestone.isReached() else { return nil }
    return state.withLock { $0.answers[number] }
  }

  /// No more answers will come.
  func end() {
    let milestones = state.withLock { state in
      state.isOver = true
      return state.milestones.values
    }
    for milestone in milestones { milestone.reach() }
  }

  /// Reads lines until there are no more.
  func read(_ handle: FileHandle) {
    var rest = Data()
    while true {
      let data: Data
      do {
        data = try handle.nextBytes()
      } catch {
        Issue.record("the answers of a worker cannot be read: \(error)")
        return
      }
      guard !data.isEmpty else { return }
      rest += data
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        take(Data(rest[..<end]))
        rest = Data(rest[(end + 1)...])
      }
    }
  }

  private func take(_ line: Data) {
    do {
      let answer = try JSONDecoder().decode(WorkerProcess.Answer.self, from: line)
      let milestone = state.withLock { state in
        state.answers[answer.number] = answer
        return state.milestone(answer.number)
      }
      milestone.reach()
    } catch {
      Issue.record("a worker says what it should not: \(error)")
    }
  }
}
