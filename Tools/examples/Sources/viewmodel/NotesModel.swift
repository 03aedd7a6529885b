import Foundation
import Observation
import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The view model of a screen with notes.
@MainActor
@Observable
final class NotesModel {
  private(set) var problem: String?
  private var list = NoteList()

  @ObservationIgnored private let session: Session
  @ObservationIgnored private let observed: ObservedSession
  @ObservationIgnored private let service: URL

  /// The notes to show; they follow the session, even if it ends without a tap.
  var notes: [String] { list.shown(in: observed.state) }

  init(_ session: Session, service: URL) {
    self.session = session
    observed = ObservedSession(session)
    self.service = service
  }

  func logIn(_ email: String, _ password: String) async {
    await attempt { try await session.login(.password(email, password)) }
  }

  func load() async {
    await attempt {
      let user = session.currentUser?.id
      let request = URLRequest(url: service.appending(path: "notes"))
      let (data, _) = try await session.data(for: request)
      list = NoteList(notes: try JSONDecoder().decode([String].self, from: data), owner: user)
    }
  }

  func logOut() async {
    await attempt { try await session.logout() }
  }

  private func attempt<Value>(_ work: () async throws -> Value) async {
    do {
      _ = try await work()
      problem = nil
    } catch {
      problem = error.localizedDescription
    }
  }
}
