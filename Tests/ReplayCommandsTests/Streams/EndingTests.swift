import ChildProcesses

#if os(Linux)
import Foundation
import Glibc
import SessionTestKit
import Testing

@testable import ReplayCommands

/// Every command, as a program, in the middle of its work: a signal, a closed output and
/// a full one.
@Suite("RPL-11 every loop ends", .serialized, .timeLimit(.minutes(20)))
struct EndingTests {
  /// How a command is kept at work for a while.
  private struct Work {
    /// Its arguments; `JOURNAL`, `LINES` and `OUT` are replaced.
    let arguments: [String]
    /// The option and name of the file that it writes; empty if it writes none.
    var writing: [String] = []
    /// Why the command has no work to interrupt.
    var isShort = false
    /// What it prints without a terminal.
    var code: Int32?
  }

  /// Each command has a row, or `isComplete` fails.
  private static let works: [String: Work] = [
    "timeline": Work(arguments: ["JOURNAL", "--kind", "login"]),
    "state": Work(arguments: ["JOURNAL"]),
    // `StepTerminalTests` tests its loops on a terminal.
    "step": Work(arguments: ["JOURNAL"], isShort: true),
    "diff": Work(arguments: ["JOURNAL", "JOURNAL"]),
    "why": Work(arguments: ["JOURNAL"]),
    "whatif": Work(arguments: ["JOURNAL", "--policy", "standard"]),
    "replay-corpus": Work(arguments: ["JOURNAL"]),
    "verify": Work(arguments: ["JOURNAL"]),
    "repair": Work(arguments: ["JOURNAL", "--dry-run"], writing: ["DAMAGED", "-o", "OUT"]),
    "follow": Work(arguments: ["JOURNAL", "--kind", "login"]),
    "stats": Work(arguments: ["JOURNAL", "JOURNAL"]),
    "ends": Work(arguments: ["JOURNAL", "JOURNAL"]),
    // The journal has no refresh, so nothing is printed.
    "refreshes": Work(arguments: ["JOURNAL", "JOURNAL"], code: 0),
    "export": Work(
      arguments: ["JOURNAL", "--format", "mermaid"], writing: ["JOURNAL", "-o", "OUT"]),
    "import": Work(arguments: ["LINES", "--dry-run"], writing: ["LINES", "-o", "OUT"]),
    "report": Work(
      arguments: ["JOURNAL", "-o", "-"], writing: ["JOURNAL", "JOURNAL", "-o", "OUT"]),
  ]

  /// The files that the commands read, made once: a debug build takes seconds for them.
  private struct Inputs: Sendable {
    let journal: [UInt8]
    let damaged: [UInt8]
    let lines: [UInt8]

    init() throws {
      let folder = try TemporaryFolder()
      try LargeJournal.write(to: folder.file("large.journal"), size: 12 << 20, payload: 64)
      journal = try folder.bytes("large.journal")
      var bytes = journal
      bytes[bytes.count / 2] ^= 1
      (damaged, lines) = (bytes, Inputs.export())
    }

    /// An export of many records without its last line: no command reads that far.
    private static func export() -> [UInt8] {
      var text =
        "{\"v\":1,\"class\":\"header\",\"journal\":\"00000000-0000-4000-8000-000000000001\","
        + "\"format\":1,\"maximumRecordSize\":65536,\"firstSequence\":1,\"redacted\":false,"
        + "\"partial\":false}\n"
      for number in 1...80_000 {
        text +=
          "{\"v\":1,\"class\":\"note\",\"sequence\":\(number),\"remainingInBatch\":0,"
          + "\"name\":\"closed\",\"time\":\"2026-01-01T00:00:00.000Z\",\"facts\":{}}\n"
      }
      return Array(text.utf8)
    }
  }

  private static let inputs = Result { try Inputs() }

  private let folder: TemporaryFolder

  init() throws {
    let inputs = try Self.inputs.get()
    folder = try TemporaryFolder()
    _ = try folder.write(inputs.journal, to: "large.journal")
    _ = try folder.write(inputs.damaged, to: "damaged.journal")
    _ = try folder.write(inputs.lines, to: "lines.jsonl")
  }

  private func filled(_ name: String, _ arguments: [String]) -> [String] {
    let files = [
      "JOURNAL": folder.file("large.journal"), "DAMAGED": folder.file("damaged.journal"),
      "LINES": folder.file("lines.jsonl"), "OUT": folder.file("out"),
    ]
    return [name] + arguments.map { files[$0] ?? $0 }
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  /// The result of a run: its code, and how much it read in all and after the signal.
  private struct Outcome {
    let code: Int32
    let read: Int
    let afterwards: Int
  }

  /// Runs the program with an output that `mode` names; sends it `signal` when it has read `begun` bytes.
  ///
  /// The program is stopped before the signal is sent, so that it is certainly in the middle of
  /// its work. `nil` if it ended before.
  private func run(
    _ arguments: [String], mode: String, signal: Int32 = 0, begun: Int = 2 << 20
  ) throws -> Outcome? {
    let script = """
      import os, resource, signal, subprocess, sys, time
      mode, number, begun = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
      reading, writing = os.pipe()
      limit = None
      if mode == "closed":
          os.close(reading)
          out = writing
      elif mode == "full":
          out = os.open("/dev/full", os.O_WRONLY)
      else:
          out = os.open("/dev/null", os.O_WRONLY)
      if mode == "limited":
          def limit():
              resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
      tool = subprocess.Popen(
          sys.argv[4:], stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
          preexec_fn=limit)
      def count():
          with open("/proc/%d/io" % tool.pid) as lines:
              return int(lines.readline().split()[1])
      def over():
          return os.waitid(os.P_PID, tool.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
      at = 0
      if number:
          while count() < begun and not over():
              time.sleep(0.0005)
          os.kill(tool.pid, signal.SIGSTOP)
          while not over() and open("/proc/%d/stat" % tool.pid).read().rsplit(")")[1].split()[0] != "T":
              time.sleep(0.0005)
          if over():
              print("ended")
              sys.exit(0)
          at = count()
          os.kill(tool.pid, number)
          os.kill(tool.pid, signal.SIGCONT)
      os.waitid(os.P_PID, tool.pid, os.WEXITED | os.WNOWAIT)
      total = count()
      print(tool.wait(), total, total - at)
      """
    let run = try ToolRun.run(
      "/usr/bin/env",
      ["python3", "-c", script, mode, "\(signal)", "\(begun)", try ToolRun.binary()] + arguments)
    guard run.output != "ended\n" else { return nil }
    let words = run.output.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    try #require(words.count == 3, "\(arguments): \(run.output) \(run.errors)")
    return Outcome(code: Int32(words[0]), read: words[1], afterwards: words[2])
  }

  /// Repeats the run until it meets the program in the middle of its work.
  private func interrupted(_ arguments: [String], by signal: Int32) throws -> Outcome {
    for _ in 0..<50 {
      if let outcome = try run(arguments, mode: "null", signal: signal) { return outcome }
    }
    return try #require(nil, "\(arguments) always ended before the signal")
  }

  @Test("RPL-11 this table contains every command")
  func isComplete() {
    #expect(Set(Self.works.keys) == Set(CommandList.order))
    // Commands that can write a file are known by their option.
    let writers = CommandList.all.map { $0.syntax }
      .filter { syntax in syntax.options.contains { $0.name == "output" } }.map(\.name)
    #expect(Set(Self.works.filter { !$0.value.writing.isEmpty }.keys) == Set(writers))
  }

  @Test("RPL-11 SIGINT and SIGTERM end each command during its work, and no file is left")
  func signals() throws {
    let before = try names()
    let runs = CommandList.order.flatMap { name in
      let work = Self.works[name]
      let lines = work?.isShort == false ? [work?.arguments ?? [], work?.writing ?? []] : []
      return lines.filter { !$0.isEmpty }.flatMap { line in
        [SIGINT, SIGTERM].map { (name: name, arguments: line, signal: $0) }
      }
    }
    #expect(runs.count > 25)
    for (name, arguments, signal) in Sweep("signals", takingOneOf: 6).places(of: runs) {
      let outcome = try interrupted(filled(name, arguments), by: signal)
      #expect(outcome.code == -signal, "\(name) \(arguments)")
      // The command did not end by finishing: then it would have read many megabytes.
      #expect(outcome.afterwards < 2 << 20, "\(name) \(arguments): \(outcome)")
      #expect(try names() == before, "\(name) \(arguments)")
    }
  }

  @Test("RPL-11 an output without a reader ends each command at once, with 0")
  func closed() throws {
    for name in CommandList.order {
      guard let work = Self.works[name] else { continue }
      let outcome = try #require(try run(filled(name, work.arguments), mode: "closed"))
      #expect(outcome.code == work.code ?? 0, "\(name)")
      #expect(outcome.read < 4 << 20, "\(name) \(outcome)")
    }
  }

  @Test("RPL-11 a full output ends each command with 74")
  func full() throws {
    let names = CommandList.order.filter { $0 != "follow" && $0 != "import" }
    for name in Sweep("full outputs", takingOneOf: 5).places(of: names) {
      guard let work = Self.works[name] else { continue }
      let outcome = try #require(try run(filled(name, work.arguments), mode: "full"))
      #expect(outcome.code == work.code ?? 74, "\(name)")
    }
    // A command that prints while it works ends in the middle.
    for arguments in [
      ["timeline", "JOURNAL"], ["export", "JOURNAL"], ["follow", "JOURNAL", "-n", "20000"],
    ] {
      let outcome = try #require(
        try run(filled(arguments[0], Array(arguments[1...])), mode: "full"))
      #expect(outcome.code == 74, "\(arguments)")
      if arguments[0] != "follow" { #expect(outcome.read < 4 << 20, "\(arguments) \(outcome)") }
    }
  }

  @Test("RPL-11 a limit on file sizes ends each command with 74, and no file is left")
  func limited() throws {
    let before = try names()
    for name in CommandList.order {
      guard let work = Self.works[name], !work.writing.isEmpty else { continue }
      let outcome = try #require(try run(filled(name, work.writing), mode: "limited"))
      // A report and an import read their input to the end before they write, or refuse it.
      #expect(outcome.code == 74, "\(name)")
      #expect(try names() == before, "\(name)")
      if name == "export" { #expect(outcome.read < 4 << 20, "\(outcome)") }
    }
  }
}
#endif
