import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Synchronization
import Testing

@testable import ReplayCommands

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The program among other programs, with journals that are larger than its memory limit.
@Suite("RPL-5 The program's use of signals, pipes and memory", .serialized)
struct MannersTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ name: String, size: Int, payload: Int) throws -> String {
    let path = folder.file(name)
    try LargeJournal.write(to: path, size: size, payload: payload)
    return path
  }

  /// Runs the program and reads the first `lines` lines of its output, or all of it.
  private func measure(_ arguments: [String], lines: Int? = nil) throws -> (
    cpu: Double, kibibytes: Int, code: Int
  ) {
    let script = """
      import os, subprocess, sys
      lines = int(sys.argv[1])
      out = subprocess.PIPE if lines else open('/dev/null', 'wb')
      run = subprocess.Popen(sys.argv[2:], stdout=out, stderr=subprocess.DEVNULL)
      for _ in range(lines):
          run.stdout.readline()
      if lines:
          run.stdout.close()
      _, status, used = os.wait4(run.pid, 0)
      print(used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status))
      """
    let run = try ToolRun.run(
      "/usr/bin/env", ["python3", "-c", script, "\(lines ?? 0)", try ToolRun.binary()] + arguments)
    let words = run.output.split(whereSeparator: \.isWhitespace)
    try #require(words.count == 3, "\(run.errors)")
    return (
      try #require(Double(words[0])), try #require(Int(words[1])), try #require(Int(words[2]))
    )
  }

  @Test("RPL-5 the program ends early after | head, even if few records are selected")
  func head() throws {
    let path = try write("many.journal", size: 12 << 20, payload: 64)
    let whole = try measure(["timeline", path])
    #expect(whole.code == 0)
    for options in [[], ["--json"], ["--kind", "logout"], ["--kind", "logout", "--json"]] {
      let head = try measure(["timeline", path] + options, lines: 1)
      #expect(head.code == 0)
      #expect(head.cpu < whole.cpu / 4, "\(options): \(head.cpu) of \(whole.cpu)")
    }
  }

  @Test("RPL-1 RPL-2 a journal of 32 MiB is read in bounded memory")
  func memory() throws {
    let path = try write("large.journal", size: 32 << 20, payload: 16 * 1024)
    // What the program takes by itself, with the same code in use.
    let small = try write("small.journal", size: 1 << 16, payload: 16 * 1024)
    let own = try measure(["timeline", small, "-C", "50"]).kibibytes
    for arguments in [
      ["timeline", path], ["timeline", path, "-n", "20000"], ["timeline", path, "-C", "50"],
      ["verify", path], ["diff", path], ["follow", path, "--timeout", "0ms"],
    ] {
      let run = try measure(arguments)
      #expect(run.code == 0, "\(arguments)")
      #if os(Linux)
      // `-n` takes 8 MiB more, even of a file of 128 MiB.
      #expect(run.kibibytes < own + 12 * 1024, "\(arguments): \(run.kibibytes) of \(own) KiB")
      #endif
    }
  }

  @Test("RPL-5 Ctrl-C and SIGTERM end the program during its work, with the code of the signal")
  func signals() throws {
    let path = try write("many.journal", size: 8 << 20, payload: 64)
    let beside = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for (signal, code) in [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)] {
      for options in [[], ["--json"], ["-r"]] {
        // The test reads only one line, so the program cannot finish.
        let tool = try LiveTool(["timeline", path] + options)
        #expect(try tool.line() != nil)
        tool.signal(signal)
        #expect(tool.code() == code, "\(options)")
        #expect(try tool.complaints().isEmpty)
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == beside)
  }

  @Test("RPL-5 every command reports an answer that cannot be written")
  func unwritable() throws {
    try Journals.write(into: folder)
    let journal = folder.file("a.journal")
    for arguments in [
      ["timeline", journal], ["state", journal], ["verify", journal], ["diff", journal],
      ["follow", journal, "--timeout", "0ms"], ["--help"],
    ] {
      var targets = [">&-"]
      if FileManager.default.fileExists(atPath: "/dev/full") { targets.append("> /dev/full") }
      for target in targets {
        let run = try ToolRun.shell("\"$0\" \"$@\" \(target)", arguments)
        #expect(run.code == 74, "\(arguments) \(target)")
        #expect(run.errors.contains("refused to write the output"))
      }
    }
  }

  @Test("JRN-1 RPL-2 while an app writes, readers exit with 0 or 2 and never report damage")
  func liveFile() throws {
    let path = folder.file("live.journal")
    let writer = try Journal.open(at: path)
    let (kind, payload) = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    let draft = JournalDraft(kind: kind, payload: payload)
    _ = try writer.append([draft])
    let isOver = LockedFlag()
    let end = DispatchSemaphore(value: 0)
    let thread = Thread {
      defer { end.signal() }
      do {
        while !isOver.isSet {
          _ = try writer.append([draft, draft, draft])
          // Without a pause the file could grow faster than a busy machine reads it.
          Thread.sleep(forTimeInterval: 0.001)
        }
      } catch { Issue.record(error) }
    }
    thread.start()
    for _ in 0..<40 {
      for command in ["timeline", "state", "verify", "diff"] {
        let run = ToolRun.inProcess([command, path])
        #expect([0, 2].contains(run.code), "\(command): \(run.errors)")
      }
    }
    isOver.set()
    // A blocking wait: the thread is in the middle of an append, and a closed journal would refuse it.
    end.wait()
    try writer.close()
    #expect(ToolRun.inProcess(["verify", path]).code == 0)
  }
}

/// A flag that two threads share.
private final class LockedFlag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}

@Suite("Specs/ReplayTool.md, options")
struct OptionTableTests {
  @Test("RPL-5 the page and the code have the same commands, operands and options")
  func options() throws {
    let lines = try Repository.text("Specs/ReplayTool.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## Options"))
    let rows = lines[start...].dropFirst().prefix { !$0.hasPrefix("## ") }.filter {
      $0.hasPrefix("| ")
    }.dropFirst(2).map { row in
      row.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
    let syntaxes = CommandList.all.map { $0.syntax }
    #expect(rows.map { $0[0] } == syntaxes.map(\.name))
    #expect(CommandList.order == syntaxes.map(\.name))
    for row in rows {
      let syntax = try #require(syntaxes.first { $0.name == row[0] }, "\(row[0])")
      let operands = syntax.operands.map { "`\($0.spelling)`" }.joined(separator: " ")
      #expect(row[1] == operands, "\(row[0])")
      let options = syntax.options.map { option in
        "`--\(option.name)" + (option.letter.map { " -\($0)" } ?? "") + "`"
      }
      #expect(row[2] == options.joined(separator: " "), "\(row[0])")
    }
  }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite("RPL-11 an output to a descriptor")
struct DescriptorOutputTests {
  /// More than a pipe holds.
  private static let text = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)

  /// A pipe that is never read; a write fills it, and does not wait.
  private struct FullPipe: ~Copyable {
    let read: Int32
    let write: Int32

    init() throws {
      let (read, write) = try Self.opened()
      (self.read, self.write) = (read, write)
    }

    private static func opened() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      try #require(fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK) == 0)
      return (ends[0], ends[1])
    }

    deinit {
      close(read)
      close(write)
    }
  }

  @Test("RPL-11 a write of which a part was taken is not continued after a signal")
  func partlyTaken() throws {
    let pipe = try FullPipe()
    let asked = Atomic(0)
    let output = DescriptorOutput(descriptor: pipe.write) {
      asked.add(1, ordering: .relaxed)
      return true
    }
    #expect(throws: OutputFailure.closed) { try output.write(Self.text[...]) }
    #expect(asked.load(ordering: .relaxed) == 1)
  }

  @Test("RPL-11 without a signal a write goes on after a part, until the system refuses")
  func continued() throws {
    let pipe = try FullPipe()
    let output = DescriptorOutput(descriptor: pipe.write)
    #expect(throws: OutputFailure.refused(EAGAIN)) { try output.write(Self.text[...]) }
  }

  @Test("RPL-11 a write that is whole asks for no signal")
  func whole() throws {
    let pipe = try FullPipe()
    let output = DescriptorOutput(descriptor: pipe.write) { true }
    try output.write(Self.text[..<4_096])
    var taken = [UInt8](repeating: 0, count: 8_192)
    #expect(read(pipe.read, &taken, taken.count) == 4_096)
  }
}
