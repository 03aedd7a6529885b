/// A queue of waiting inputs; removing the first one moves no other.
struct InputQueue: Hashable, Sendable {
  private var inputs: [SessionInput] = []
  private var start = 0

  mutating func append(_ input: SessionInput) {
    inputs.append(input)
  }

  mutating func takeFirst() -> SessionInput? {
    guard start < inputs.count else { return nil }
    let first = inputs[start]
    start += 1
    if start == inputs.count {
      inputs.removeAll(keepingCapacity: true)
      start = 0
    }
    return first
  }
}
