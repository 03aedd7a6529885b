import Backend
import Foundation
import Observation
import SessionHTTP
import SessionKit

/// A screen that prints its content each time it changes.
@main
@MainActor
struct Screen {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first, arguments.count == 1, !path.hasPrefix("-") else {
      say("Usage: viewmodel FOLDER\n\nShows notes, and shows none after a logout.")
      exit(64)
    }
    let folder = URL(filePath: path)
    let service = Service()
    let server = try Server(service.answer)
    // configuration
    let session = try await Session.open(
      SessionConfiguration(
        directory: folder, backend: HTTPBackend.camelCaseJSON(server.url),
        service: "org.example.viewmodel"))
    // end of configuration
    let model = NotesModel(session, service: server.url)
    draw(model)

    await model.logIn(Service.user.name, "wrong")
    say("problem: \(model.problem ?? "none")")
    await model.logIn(Service.user.name, Service.user.password)
    await model.load()

    // The user logs out during a slow response.
    service.setDelay(.milliseconds(300))
    async let loading: Void = model.load()
    try await Task.sleep(for: .milliseconds(100))
    await model.logOut()
    await loading
    try await session.close()
    say("at the end: \(model.notes.count) notes, signed in: \(session.isAuthenticated)")
  }

  /// Prints the list now and after each change, as a SwiftUI view does.
  static func draw(_ model: NotesModel) {
    let notes = withObservationTracking {
      model.notes
    } onChange: {
      Task { @MainActor in draw(model) }
    }
    say("screen: \(notes.isEmpty ? "empty" : notes.joined(separator: ", "))")
  }
}
