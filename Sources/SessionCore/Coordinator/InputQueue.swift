/// Inputs that wait, in the order of arrival; taking one moves none of the others.
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
