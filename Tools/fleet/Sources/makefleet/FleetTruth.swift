/// What happened in a fleet, as it was drawn: lines of JSON that no journal has gone through.
struct FleetTruth: Sendable {
  private(set) var lines: [String] = []

  /// Adds an end, or with no time a session that is open at the end.
  mutating func add(
    end: Int64?, cause: String, app: String, user: Int, began: Int64, _ hasRefreshed: Bool
  ) {
    let ended = end.map(String.init) ?? "null"
    lines.append(
      #"{"kind":"end","cause":"\#(cause)","app":"\#(app)","user":\#(user),"began":"#
        + #"\#(began),"ended":\#(ended),"refreshed":\#(hasRefreshed)"#)
  }

  /// Adds a refresh; its duration is in milliseconds.
  mutating func add(refresh outcome: String, app: String, at time: Int64, duration: Int64?) {
    lines.append(
      #"{"kind":"refresh","outcome":"\#(outcome)","app":"\#(app)","time":\#(time),"#
        + #""duration":\#(duration.map(String.init) ?? "null")"#)
  }
}
