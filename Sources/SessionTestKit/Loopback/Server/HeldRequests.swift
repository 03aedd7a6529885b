/// The closed gates and the requests that wait at them; a value.
struct HeldRequests: Sendable {
  private struct Gate {
    let endpoint: LoopbackEndpoint
    let moment: LoopbackFault.Moment
    var queue: [Int] = []
    var admitted: Set<Int> = []
    var permits = 0
  }

  private var gates: [Int: Gate] = [:]
  private var count = 0

  /// Closes a gate, and returns its id.
  mutating func close(_ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment) -> Int {
    count += 1
    gates[count] = Gate(endpoint: endpoint, moment: moment)
    return count
  }

  mutating func open(_ id: Int) {
    gates[id] = nil
  }

  mutating func admit(_ permits: Int, at id: Int) {
    guard var gate = gates[id], permits > 0 else { return }
    let admitted = gate.queue.prefix(permits)
    gate.admitted.formUnion(admitted)
    gate.queue.removeFirst(admitted.count)
    gate.permits += permits - admitted.count
    gates[id] = gate
  }

  mutating func admitNewest(at id: Int) {
    guard let newest = gates[id]?.queue.popLast() else { return }
    gates[id]?.admitted.insert(newest)
  }

  func waiting(at id: Int) -> Int {
    gates[id]?.queue.count ?? 0
  }

  /// Returns whether a call may pass; if not, it is in the gate's queue afterwards.
  mutating func pass(
    _ call: Int, _ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment
  ) -> Bool {
    var passes = true
    for id in gates.keys.sorted() {
      guard var gate = gates[id], gate.endpoint == endpoint, gate.moment == moment,
        !gate.admitted.contains(call)
      else { continue }
      if gate.permits > 0 {
        gate.permits -= 1
        gate.admitted.insert(call)
      } else {
        passes = false
        if !gate.queue.contains(call) { gate.queue.append(call) }
      }
      gates[id] = gate
    }
    return passes
  }
}
