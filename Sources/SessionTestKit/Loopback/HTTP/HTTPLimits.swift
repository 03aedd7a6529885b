/// How much of a request is read before it is refused.
package struct HTTPLimits: Sendable, Equatable {
  /// Bytes of the request line; more is answered 414.
  package var requestLineBytes = 8 * 1024
  /// Bytes of all header or trailer fields together; more is answered 431.
  package var fieldBytes = 32 * 1024
  /// Bytes of the decoded body; more is answered 413.
  package var bodyBytes = 1024 * 1024

  package init() {}
}
