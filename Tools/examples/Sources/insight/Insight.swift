import Backend
import Foundation
import SessionExplain
import SessionHTTP
import SessionKit
import SessionMessages

/// An app that counts why its sessions end, and that explains the last end on a support screen.
@main
struct Insight {
  static let usage = """
    Usage: insight FOLDER [LANGUAGE]

    Signs in and out in FOLDER, counts the ends, and shows the support screen in a language (en, es, pt).
    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let path = arguments.first, arguments.count <= 2, !path.hasPrefix("-") else {
      say(usage)
      exit(64)
    }
    let folder = URL(filePath: path)
    let language = arguments.dropFirst().first.map { SessionLanguage(preferring: [$0]) }

    let service = Service()
    let server = try Server(service.answer)
    let configuration = configuration(folder, server.url)
    let session = try await Session.open(configuration)
    let counting = Task { try await count(session, in: folder) }
    try await session.login(.password(Service.user.name, Service.user.password))
    try await session.refresh()
    try await session.logout()
    try await session.close()
    try await counting.value

    // The screen also works if the session cannot be opened: it reads the journal.
    let history = try await Session.history(of: configuration)
    let screen = try SupportScreen(
      of: history, in: folder, language: language ?? .preferred)
    say("screen: \(screen.summary)")
    say("share: \(screen.report.lastPathComponent)")
    let slow = RefreshHistogram(history.refreshes())
    say("refreshes: \(slow.count)")
  }

  static func configuration(_ folder: URL, _ service: URL) -> SessionConfiguration {
    // configuration
    var configuration = SessionConfiguration(
      directory: folder, backend: HTTPBackend.camelCaseJSON(service),
      service: "org.example.insight")
    configuration.appVersion = AppVersion("3.1.0")
    // end of configuration
    return configuration
  }

  /// Counts each end once, also if the app did not run when it happened.
  static func count(_ session: Session, in folder: URL) async throws {
    let file = folder.appending(path: "counted.json")
    var position = ExplainedEnd.Position(journal: "", sequence: 0)
    if FileManager.default.fileExists(atPath: file.path) {
      position = try JSONDecoder().decode(
        ExplainedEnd.Position.self, from: Data(contentsOf: file))
    }
    let ends = ExplainedEnds(of: session.events, after: position, history: session.history)
    for try await end in ends {
      EndLog().count(end)
      try JSONEncoder().encode(end.position).write(to: file, options: .atomic)
    }
  }
}
