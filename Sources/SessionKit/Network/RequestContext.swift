/// What a session knows of a request, in addition to the arguments of ``AuthBackend``.
///
/// The library's own backend reads it. It is a task-local value, so it is also available if an
/// app's backend passes a request on to the library's.
package struct RequestContext: Sendable {
  /// The time limit of the whole exchange, in milliseconds; `nil` for the transport's own limit.
  package var timeout: Int64?
  /// The lifetime of the previous token when it was issued, in milliseconds.
  package var lifetimeBefore: Int64?
  /// The user to whom the response should belong.
  package var user: ExpectedUser?
  /// Reads the journal again and returns whether the request may still be sent; `nil` if no check
  /// is needed.
  ///
  /// - Requirement: REF-11
  package var mayLeave: (@Sendable () async -> Bool)?

  @TaskLocal package static var current = RequestContext()
}
