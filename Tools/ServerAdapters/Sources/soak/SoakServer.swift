import Foundation
import SessionTestKit

/// The auth server, in a process of its own, so that its list of calls is not in the measured memory.
///
/// The parent writes lines: `life SECONDS`, `count` and nothing more. Closing the pipe ends it.
enum SoakServer {
  static func run() throws {
    let server = try LoopbackServer.start()
    server.settings.update { $0.rotatesRefreshTokens = true }
    answer("\(server.port)")
    while let line = readLine() {
      let words = line.split(separator: " ")
      switch words.first {
      case "life":
        let seconds = words.last.flatMap { Int($0) } ?? 60
        server.settings.update { $0.accessTokenLifetime = .seconds(seconds) }
        answer("life \(seconds)")
      default:
        answer(
          "\(server.count(of: .refresh)) \(server.count(of: .login)) "
            + "\(server.count(of: .materials)) \(server.violations.count)")
      }
    }
    server.stop()
  }

  private static func answer(_ text: String) {
    say(text)
  }
}

/// Writes a line at once, also to a pipe.
func say(_ text: String) {
  // If this fails, the reader of the pipe has ended.
  do { try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8)) } catch {}
}

/// What the server has counted.
struct ServerCounts {
  var refreshes = 0
  var logins = 0
  var calls = 0
  var violations = 0
}

/// The parent's end of a ``SoakServer``.
final class SoakServerProcess {
  let url: URL
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  struct Lost: Error {}

  init(life: Int) throws {
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["server"]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let port = try Self.line(output)
    guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw Lost() }
    self.url = url
    _ = try ask("life \(life)")
  }

  /// Asks for the counts.
  func counts() throws -> ServerCounts {
    let numbers = try ask("count").split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 4 else { throw Lost() }
    return ServerCounts(
      refreshes: numbers[0], logins: numbers[1], calls: numbers[2], violations: numbers[3])
  }

  private func ask(_ question: String) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data("\(question)\n".utf8))
    return try Self.line(output)
  }

  /// Reads the one line that the server writes as its answer.
  private static func line(_ pipe: Pipe) throws -> String {
    var text = ""
    while !text.hasSuffix("\n") {
      let bytes = pipe.fileHandleForReading.availableData
      guard !bytes.isEmpty else { throw Lost() }
      text += String(decoding: bytes, as: UTF8.self)
    }
    return String(text.dropLast())
  }

  func stop() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
