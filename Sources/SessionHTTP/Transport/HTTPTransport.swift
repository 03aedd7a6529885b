/// Sends requests to the backend: `URLSession` in an app, anything in a test.
public protocol HTTPTransport: Sendable {
  /// Sends a request once and returns the response with any status.
  ///
  /// It never repeats a request and never follows a redirect. It ends within the request's time
  /// limit, even if the server stays silent. It ends at once when the calling task is cancelled.
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}
