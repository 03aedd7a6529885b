/// What carries requests to the backend: `URLSession` in an app, anything in a test.
public protocol HTTPTransport: Sendable {
  /// Sends a request once and returns whatever was answered, whatever its status.
  ///
  /// Never repeats a request, never follows a redirect, and ends within the request's time-out,
  /// also when the server stays silent. Ends at once when the calling task is cancelled.
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}
