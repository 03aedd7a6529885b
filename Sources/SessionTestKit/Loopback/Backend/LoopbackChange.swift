/// A change that the service accepted; repetitions of it are not counted.
public struct LoopbackChange: Sendable, Equatable {
  /// The idempotency key by which the service recognizes a repetition.
  public let key: String
  /// The id of the user who made it.
  public let userID: String
  /// The body of its request.
  public let body: [UInt8]
}

extension LoopbackBackend {
  /// Accepts a change, or repeats the answer to one that it accepted before.
  ///
  /// A key belongs to a user. The answer is 422 `KEY_REUSED` if the same key arrives with another
  /// body. It is 400 if the key is missing, empty or longer than 255 bytes.
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
      return .failure(422, "KEY_REUSED", "Another change has used this key.")
    }
    if known == nil { changes.append(change) }
    return BackendAnswer(
      status: 201, body: ["number": .int((known ?? changes.count - 1) + 1)])
  }
}

extension LoopbackChange: CustomStringConvertible, CustomReflectable {
  /// The key, and the size of the body in bytes.
  public var description: String { "change \(key), \(body.count) bytes" }

  /// A mirror that shows only the description.
  public var customMirror: Mirror { Mirror(self, children: ["change": description]) }
}
