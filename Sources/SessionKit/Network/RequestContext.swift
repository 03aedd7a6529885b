/// What a session knows of a request beside the arguments of ``AuthBackend``.
///
/// The library's own backend reads it. It is a value of the task, so that it also arrives if an app's backend
/// passes a request on to it.
package struct RequestContext: Sendable {
  /// How long the whole exchange may take, in milliseconds; `nil` for the transport's own limit.
  package var timeout: Int64?
  /// How long the token before was good when it came, in milliseconds.
  package var lifetimeBefore: Int64?
  /// Whose the response should be.
  package var user: ExpectedUser?
  /// Reads the journal again: whether the request may still be sent; `nil` if that is not to be asked.
  ///
  /// - Requirement: REF-11
  package var mayLeave: (@Sendable () async -> Bool)?

  @TaskLocal package static var current = RequestContext()
}
