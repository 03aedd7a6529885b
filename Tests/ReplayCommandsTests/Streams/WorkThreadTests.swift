import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import ReplayCommands

/// Threads for a part of the work of a command, and where they run.
@Suite("Threads for work", .timeLimit(.minutes(2)))
struct WorkThreadTests {
  @Test("each thread runs its work once, and releases it")
  func runs() async {
    final class Held: Sendable {
      let told: AsyncStream<Int>.Continuation

      init(_ told: AsyncStream<Int>.Continuation) { self.told = told }

      deinit { told.yield(-1) }
    }
    let (stream, told) = AsyncStream.makeStream(of: Int.self)
    for number in 0..<20 {
      let held = Held(told)
      #expect(WorkThread.start { held.told.yield(number) })
    }
    var (numbers, released): ([Int], Int) = ([], 0)
    for await number in stream {
      if number < 0 { released += 1 } else { numbers.append(number) }
      if numbers.count == 20, released == 20 { break }
    }
    #expect(numbers.sorted() == Array(0..<20))
  }

  #if os(Linux)
    /// What the system says of a thread.
    private struct Place: Sendable, Equatable {
      let thread: String
      /// The processors on which it may run.
      let allowed: String
      /// The processor on which it runs.
      let processor: Int
      let blockedSignals: String

      /// Reads the place of the current thread.
      init() throws {
        let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
        func field(_ name: String) -> String? {
          status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
        }
        thread = try #require(field("Pid"))
        allowed = try #require(field("Cpus_allowed_list"))
        blockedSignals = try #require(field("SigBlk"))
        // The name of the thread, in parentheses, may have blanks.
        let stat = try String(contentsOfFile: "/proc/thread-self/stat", encoding: .utf8)
        let rest = try #require(stat.split(separator: ")").last).split(separator: " ")
        processor = try #require(rest.indices.contains(36) ? Int(rest[36]) : nil)
      }
    }

    /// Starts a thread from the current one; returns where it begins.
    private static func started() throws -> Place {
      let (told, done) = (Told(), DispatchSemaphore(value: 0))
      #expect(
        WorkThread.start {
          told.place.withLock { $0 = try? Place() }
          done.signal()
        })
      done.wait()
      return try #require(told.place.withLock { $0 })
    }

    /// What another thread has found out.
    private final class Told: Sendable {
      let place = Mutex<Place?>(nil)
    }

    /// Returns what `body` returns in a new thread.
    private func inThread<Value: Sendable>(
      _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
      try await withCheckedThrowingContinuation { continuation in
        let hasStarted = WorkThread.start { continuation.resume(with: Result(catching: body)) }
        if !hasStarted { continuation.resume(throwing: CocoaError(.executableLoad)) }
      }
    }

    @Test("a thread may run on each processor of its creator, and takes no signals")
    func mask() async throws {
      let (creator, place) = try await inThread {
        // A thread of the runtime blocks signals; that of a program does not.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        return (try Place(), try Self.started())
      }
      #expect(place.allowed == creator.allowed)
      #expect(try Place().allowed == creator.allowed)
      #expect(creator.blockedSignals.allSatisfy { $0 == "0" })
      let blocked = try #require(UInt64(place.blockedSignals, radix: 16))
      func isBlocked(_ signal: Int32) -> Bool { blocked >> UInt64(signal - 1) & 1 == 1 }
      #expect([SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGALRM].allSatisfy(isBlocked))
      #expect(![SIGILL, SIGTRAP, SIGSEGV, SIGBUS].contains(where: isBlocked))
    }

    @Test(
      "a thread begins on another processor than its creator's",
      .enabled(if: WorkThread.processors > 1))
    func begins() async throws {
      // The creator may move between two steps, so not each thread has to be elsewhere.
      let elsewhere = try await inThread {
        var elsewhere = 0
        for _ in 0..<50 {
          let here = try Place().processor
          if try Self.started().processor != here { elsewhere += 1 }
        }
        return elsewhere
      }
      #expect(elsewhere >= 25)
    }

    @Test(
      "a thread with one processor counts one, and can start another thread",
      .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/taskset")))
    func one() async throws {
      let (processors, place, started) = try await inThread {
        let place = try Place()
        let run = try ToolRun.run("/usr/bin/taskset", ["-pc", "\(place.processor)", place.thread])
        #expect(run.code == 0, "\(run.errors)")
        return (WorkThread.allowedProcessors(), place, try Self.started())
      }
      #expect(processors == 1)
      #expect(started.allowed == "\(place.processor)")
      #expect(WorkThread.allowedProcessors() == WorkThread.processors)
    }
  #endif
}
