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
  private(set) var list = NoteList()
  private(set) var problem: String?

  @ObservationIgnored private let session: Session
  @ObservationIgnored private let api: SessionInterceptor
  @ObservationIgnored private let notes: URL
  @ObservationIgnored private var following: Task<Void, Never>?

  init(_ session: Session, service: URL) {
    self.session = session
    api = SessionInterceptor(session)
    notes = service.appending(path: "notes")
    let states = session.states
    following = Task { [weak self] in
      for await status in states { self?.change { $0.show(status.state) } }
    }
  }

  deinit { following?.cancel() }

  func logIn(_ email: String, _ password: String) async {
    await attempt {
      try await session.login(PasswordCredentials(userName: email, password: Secret(password)))
    }
  }

  func load() async {
    await attempt {
      guard let user = session.state.user else { return }
      let (data, _) = try await api.data(for: URLRequest(url: notes))
      let notes = try JSONDecoder().decode([String].self, from: data)
      // The session may have ended meanwhile: `states` delivers a moment later.
      change {
        $0.show(session.state)
        $0.show(notes, askedBy: user)
      }
    }
  }

  func logOut() async {
    await attempt { try await session.logout() }
    change { $0.show(session.state) }
  }

  /// Sets the list only if it differs: each setting draws the screen again.
  private func change(_ body: (inout NoteList) -> Void) {
    var changed = list
    body(&changed)
    if changed != list { list = changed }
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
