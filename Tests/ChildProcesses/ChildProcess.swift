import CProcess
package import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A program in a process of its own.
///
/// The tests use it in place of Foundation's `Process`. On Linux, `Process.run` may
/// crash in a run of all tests (Swift 6.3.1).
package final class ChildProcess: Sendable {
  /// What the program has as one of its three standard streams.
  package enum Stream {
    /// The stream of this process.
    case inherited
    /// Nothing to read; what is written is dropped.
    case null
    /// A pipe. The program's end is closed in this process as soon as the program runs.
    case pipe(Pipe)
    /// An open file. It stays open in this process.
    case file(FileHandle)
  }

  package enum Status: Equatable, Sendable {
    case running
    /// It ended with this code.
    case exited(Int32)
    /// This signal ended it.
    case killed(Int32)

    /// The exit code; of a killed program 128 and the signal, as a shell says it.
    package var code: Int32? {
      switch self {
      case .running: nil
      case .exited(let code): code
      case .killed(let signal): 128 + signal
      }
    }
  }

  /// The program could not be started.
  package struct StartError: Error, CustomStringConvertible {
    let program: String
    let number: Int32

    package var description: String {
      "\(program) could not be started: \(String(cString: strerror(number)))"
    }
  }

  package let identifier: Int32
  private let current = Mutex(Status.running)
  private let end = DispatchGroup()

  /// Starts a program by its path.
  ///
  /// Without an `environment` it has the one of this process.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String]? = nil,
    folder: String? = nil, input: Stream = .null, output: Stream = .inherited,
    errors: Stream = .inherited
  ) throws {
    let environment = environment ?? ProcessInfo.processInfo.environment
    identifier = try Self.start(
      [program] + arguments, environment.map { "\($0.key)=\($0.value)" }, folder,
      [input.descriptor(0), output.descriptor(1), errors.descriptor(2)])
    for (stream, descriptor) in [(input, Int32(0)), (output, 1), (errors, 2)] {
      try stream.closeProgramEnd(descriptor)
    }
    end.enter()
    Thread.detachNewThread { self.reap() }
  }

  package var status: Status { current.withLock { $0 } }

  /// Waits until it has ended, and no process has its identifier any more.
  @discardableResult
  package func waitUntilExit() -> Status {
    end.wait()
    return status
  }

  /// Calls `body` once, after it has ended.
  package func whenEnded(_ body: @escaping @Sendable () -> Void) {
    end.notify(queue: .global(), execute: body)
  }

  /// Sends it a signal.
  ///
  /// Returns whether the process still existed.
  @discardableResult
  package func send(_ signal: Int32) -> Bool {
    current.withLock { $0 == .running && kill(identifier, signal) == 0 }
  }

  private func reap() {
    // First without reaping: while the lock is not held, the identifier must stay this process's.
    var information = siginfo_t()
    while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
    current.withLock { current in
      var word: Int32 = 0
      while waitpid(identifier, &word, 0) == -1, errno == EINTR {}
      // WIFEXITED, WEXITSTATUS and WTERMSIG, which are macros.
      current = word & 0x7F == 0 ? .exited(word >> 8 & 0xFF) : .killed(word & 0x7F)
    }
    end.leave()
  }

  private static func start(
    _ arguments: [String], _ environment: [String], _ folder: String?, _ streams: [Int32]
  ) throws -> pid_t {
    let texts = (arguments + environment).map { strdup($0) }
    defer { for text in texts { free(text) } }
    var identifier: pid_t = 0
    let error = cprocess_start(
      &identifier, texts[..<arguments.count] + [nil], texts[arguments.count...] + [nil], folder,
      streams)
    guard error == 0 else { throw StartError(program: arguments[0], number: error) }
    return identifier
  }
}

extension ChildProcess {
  /// What a program that ran to its end wrote.
  package struct Run {
    /// As ``Status/code``.
    package let code: Int32?
    package let bytes: Data

    package var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  /// Where the errors of a program go that runs to its end.
  package enum Errors {
    case shown
    case dropped
    /// Among what it writes.
    case collected
  }

  /// Runs a program, which `PATH` names, to its end.
  package static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    folder: String? = nil, errors: Errors = .shown
  ) throws -> Run {
    let pipe = Pipe()
    let stream: Stream =
      switch errors {
      case .shown: .inherited
      case .dropped: .null
      case .collected: .file(pipe.fileHandleForWriting)
      }
    let process = try ChildProcess(
      "/usr/bin/env", [program] + arguments,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      folder: folder, output: .pipe(pipe), errors: stream)
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(pipe.fileHandleForReading.fileDescriptor, &buffer, buffer.count)
      if count == -1, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return Run(code: process.waitUntilExit().code, bytes: bytes)
  }

  /// The folder of the specifications, with the readers in Python.
  package static let specs = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Specs").path

  /// Runs Python, which finds the modules in ``specs``.
  package static func python(_ arguments: [String], errors: Errors = .shown) throws -> Run {
    try run("python3", ["-B"] + arguments, environment: ["PYTHONPATH": specs], errors: errors)
  }
}

extension ChildProcess.Stream {
  /// The descriptor here that becomes the program's; -1 for none.
  fileprivate func descriptor(_ standard: Int32) -> Int32 {
    switch self {
    case .inherited: standard
    case .null: -1
    case .pipe(let pipe): programEnd(of: pipe, standard).fileDescriptor
    case .file(let handle): handle.fileDescriptor
    }
  }

  fileprivate func closeProgramEnd(_ standard: Int32) throws {
    if case .pipe(let pipe) = self { try programEnd(of: pipe, standard).close() }
  }

  private func programEnd(of pipe: Pipe, _ standard: Int32) -> FileHandle {
    standard == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
  }
}

extension FileHandle {
  /// Waits for the next bytes of a pipe or file, and returns them; empty at its end.
  ///
  /// It continues after a signal. `availableData` would end the process then, and
  /// `read(upToCount:)` would throw.
  package func nextBytes() throws -> Data {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = systemRead(fileDescriptor, &buffer, buffer.count)
      if count >= 0 { return Data(buffer[..<count]) }
      guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
  }

  /// Waits for all bytes to the end of a pipe or file, and returns them.
  package func remainingBytes() throws -> Data {
    var bytes = Data()
    while true {
      let next = try nextBytes()
      if next.isEmpty { return bytes }
      bytes += next
    }
  }
}

/// Calls the system's `read`: inside `FileHandle` that name is a method.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}
