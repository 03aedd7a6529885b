#if URLSession
public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// Protected calls without any setup (INT-1).
extension Session {
  /// Makes a call with the session's token and returns the whole response, with any status.
  ///
  /// It works like a call of a ``SessionInterceptor`` with the configuration's `calls`. All calls
  /// of this object share one `URLSession`, which keeps no cookies, responses or credentials. For
  /// another `URLSessionConfiguration` or for traces, create a ``SessionInterceptor``.
  ///
  /// - Requirement: INT-1
  public func data(for request: URLRequest, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await interceptor.data(for: request, as: mark)
  }

  /// Makes a call with this body, which is sent completely in each attempt.
  ///
  /// - Requirement: INT-1, INT-3
  public func upload(for request: URLRequest, from body: Data, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await interceptor.upload(for: request, from: body, as: mark)
  }

  /// Makes a call with the content of a file as its body.
  ///
  /// Each attempt reads the file again.
  ///
  /// - Requirement: INT-1, INT-3
  public func upload(for request: URLRequest, fromFile file: URL, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await interceptor.upload(for: request, fromFile: file, as: mark)
  }

  /// The `URLSession` of these calls.
  package var sharedClient: AnyObject { sharedCalls.client(for: engine.configuration).line }

  private var interceptor: SessionInterceptor {
    SessionInterceptor(
      self, client: sharedCalls.client(for: engine.configuration),
      rules: engine.configuration.calls)
  }
}

/// The `URLSession` of a session's own calls, created for the first of them.
///
/// It does not hold the session, which holds it.
final class SharedCalls: Sendable {
  private let made = Mutex<URLSessionCalls?>(nil)

  // Never inlined: async functions call it, and a lock belongs to its thread.
  @inline(never)
  func client(for configuration: SessionConfiguration) -> URLSessionCalls {
    made.withLock { made in
      if let made { return made }
      let map = CallMap(configuration.calls, configuration.backend)
      let client = URLSessionCalls(URLSessionLine(.withoutMemory, map))
      made = client
      return client
    }
  }
}
#endif
