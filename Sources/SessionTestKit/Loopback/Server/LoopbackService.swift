/// A service that answers instead of the EDU backend of a loopback server.
///
/// It is called on the server's thread and under the server's lock. It must not block, and must not
/// call the server.
package protocol LoopbackService: Sendable {
  /// Receives a complete request; `number` counts requests from 1.
  func receive(_ request: ReceivedRequest, number: Int)
  /// Returns the fate of a request; `nil` while it is undecided.
  ///
  /// The server asks again after ``LoopbackServer/ring()``.
  func fate(ofRequest number: Int) -> LoopbackFate?
}

/// The fate of a request at a ``LoopbackService``.
package enum LoopbackFate: Sendable {
  /// The request is answered.
  case answer(SentResponse)
  /// The request was received, and the connection breaks (``LoopbackFault/dropConnection(_:)``).
  case lost
}
