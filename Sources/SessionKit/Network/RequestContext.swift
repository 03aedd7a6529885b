/// What a session knows of a request beside the arguments of ``AuthBackend``.
///
/// The library's own backend reads it. It is a value of the task, so that it also arrives if an app's backend
/// passes a request on to an ``HTTPBackend``.
struct RequestContext: Sendable {
  /// How long the whole exchange may take, in milliseconds; `nil` for the transport's own limit.
  var timeout: Int64?
  /// How long the token before was good when it came, in milliseconds.
  var lifetimeBefore: Int64?
  /// Whose the response should be.
  var user: ExpectedUser?
  /// Reads the journal again: whether the request may still be sent (REF-11); `nil` if that is not to be asked.
  var mayLeave: (@Sendable () async -> Bool)?

  @TaskLocal static var current = RequestContext()
}
