/// The limits of a request's parts; a longer request is rejected.
package struct HTTPLimits: Sendable, Equatable {
  /// The greatest size of the request line in bytes; a longer one is answered with 414.
  package var requestLineBytes = 8 * 1024
  /// The greatest size of all header or trailer fields in bytes; more are answered with 431.
  package var fieldBytes = 32 * 1024
  /// The greatest size of the decoded body in bytes; a longer one is answered with 413.
  package var bodyBytes = 1024 * 1024

  package init() {}
}
