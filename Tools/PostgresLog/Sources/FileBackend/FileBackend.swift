internal import Foundation
public import SessionKit

/// A server of tokens for tests with processes: its state is the length of a file.
///
/// Each refresh token is accepted once. A second use is refused, as servers do that rotate tokens.
public struct FileBackend: AuthBackend {
  private let path: String
  private let lifetime: Duration

  /// Creates a server with its state in a file; `lifetime` is that of tokens after a refresh.
  public init(path: String, lifetime: Duration = .seconds(3600)) {
    (self.path, self.lifetime) = (path, lifetime)
  }

  /// The name of the server.
  public var identity: BackendIdentity { BackendIdentity("file backend") }

  /// The number of refreshes so far.
  public var refreshes: Int { count - 1 }

  /// Signs any user in, with a token that lives for a second.
  public func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    guard add(ifCountIs: 0) else { throw BackendError(.invalidResponse) }
    return response(1, lifetime: .seconds(1), user: UserProfile(id: "user-1"))
  }

  /// Gives the next token out, if the present one is shown.
  public func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    do { try await Task.sleep(for: .milliseconds(200)) } catch {
      throw BackendError(.noResponse)
    }
    let present = count
    guard token.plaintext == "refresh-\(present)", add(ifCountIs: present) else {
      throw BackendError(.rejected, status: 401, serverCode: "reused")
    }
    return response(present + 1, lifetime: lifetime, user: nil)
  }

  private func response(_ number: Int, lifetime: Duration, user: UserProfile?) -> TokenResponse {
    TokenResponse(
      access: Secret("access-\(number)"), refresh: Secret("refresh-\(number)"), lifetime: lifetime,
      user: user)
  }

  private var count: Int {
    FileManager.default.contents(atPath: path)?.count ?? 0
  }

  /// Adds a byte, if the file has as many as expected.
  private func add(ifCountIs expected: Int) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_EX) == 0, count == expected else { return false }
    return write(descriptor, "x", 1) == 1
  }
}
