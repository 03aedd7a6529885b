/// A change that the service has taken, once however often it came.
public struct LoopbackChange: Sendable, Equatable {
  /// By which the service knows it again.
  public let key: String
  /// Whose it is.
  public let userID: String
  /// What came with it.
  public let body: [UInt8]
}

extension LoopbackBackend {
  /// Takes a change, or says of one that was taken before what it said then.
  ///
  /// A key is its user's. One that comes again with another body is 422 `KEY_REUSED`, one that is missing or
  /// longer than 255 characters 400.
  mutating func change(_ request: ReceivedRequest, now: Int64) -> BackendAnswer {
    let session: Int
    switch authorize(request, now: now) {
    case .success(let found): session = found
    case .failure(let refusal): return refusal.answer
    }
    let keys = request.fields.values(of: "idempotency-key")
    guard keys.count == 1, let key = keys.first, (1...255).contains(key.utf8.count) else {
      return .broken(.body, "A change needs one Idempotency-Key.")
    }
    let change = LoopbackChange(
      key: key, userID: sessions[session].userID, body: request.body)
    let known = changes.firstIndex { $0.key == key && $0.userID == change.userID }
    if let known, changes[known] != change {
      return .failure(422, "KEY_REUSED", "This key was another change's.")
    }
    if known == nil { changes.append(change) }
    return BackendAnswer(
      status: 201, body: ["number": .int((known ?? changes.count - 1) + 1)])
  }
}

extension LoopbackChange: CustomStringConvertible, CustomReflectable {
  /// The key, and how much came with it.
  public var description: String { "change \(key), \(body.count) bytes" }

  /// What a dump shows: the description.
  public var customMirror: Mirror { Mirror(self, children: ["change": description]) }
}
