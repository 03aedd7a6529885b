/// What stands behind a loopback server in place of the EDU backend.
///
/// Called on the server's thread, under its lock: it must not wait, nor call the server.
package protocol LoopbackService: Sendable {
  /// A whole request has come, the `number`-th from 1.
  func receive(_ request: ReceivedRequest, number: Int)
  /// What becomes of a request; `nil` while that is open: it is asked again when the server is rung.
  func fate(ofRequest number: Int) -> LoopbackFate?
}

/// What becomes of a request at a ``LoopbackService``.
package enum LoopbackFate: Sendable {
  /// It is answered.
  case answer(SentResponse)
  /// It was heard, and the connection breaks (``LoopbackFault/dropConnection(_:)``).
  case lost
}
