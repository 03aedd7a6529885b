import Foundation
import SessionHTTP
import SessionKit
import Testing

/// A plan with the facts of the call that the table uses.
private struct Traced: Hashable {
  var plan: CallPlan
  let target: CallPlan.Target
  let isStream: Bool
  let attempts: UInt32
  var stage = "new"
  var user: Identifier?
  var since: Timestamp?
  var used = Generation.none
  var attempt: UInt32 = 1
  var isAgain = false

  init(_ target: CallPlan.Target, isStream: Bool, attempts: UInt32) {
    plan = CallPlan(target, isRepeatable: !isStream, attempts: attempts)
    (self.target, self.isStream, self.attempts) = (target, isStream, attempts)
  }

  var kind: String {
    switch target {
    case .own: isStream ? "stream" : "own"
    case .plain: "plain"
    case .insecure: "insecure"
    case .foreign: "foreign"
    }
  }

  func words(_ input: CallPlan.Input) -> (happened: String, shows: String) {
    switch input {
    case .begun(let observed): ("begun", words(observed))
    case .answered: ("answered", "")
    case .limited: ("limited", "")
    case .refused(let observed): ("refused", words(observed))
    case .needsUser(let observed): ("needs the user", words(observed))
    case .refreshed(let observed): ("refreshed", words(observed))
    case .notRefreshed(let hasNothing):
      (hasNothing ? "nothing to refresh with" : "not refreshed", "")
    case .lost(let isTransient):
      (isTransient && !isStream && attempt < attempts ? "lost with attempts left" : "lost", "")
    case .backoffEnded(let observed): ("rested", words(observed))
    }
  }

  private func words(_ observed: CallPlan.Observed) -> String {
    switch observed {
    case .noUser: return "no user"
    case .expired(let other): return user ?? other == other ? "expired" : "another session"
    case .unread(let other): return isOurs(other) ? "no token" : "another session"
    case .holding(let other, let generation, let isGood):
      guard isOurs(other) else { return "another session" }
      let token = isGood ? "good token" : "dead token"
      return used != .none && generation > used ? "newer \(token)" : token
    }
  }

  private func isOurs(_ owner: CallPlan.Owner) -> Bool {
    user ?? owner.user == owner.user && since ?? owner.since == owner.since
  }

  private mutating func belong(to observed: CallPlan.Observed?) {
    switch observed {
    case .expired(let other): user = user ?? other
    case .unread(let owner), .holding(let owner, _, _):
      (user, since) = (user ?? owner.user, since ?? owner.since)
    case .noUser, nil: break
    }
  }

  /// The state after an input, as the table describes it, or `nil` if the call has ended.
  func after(_ input: CallPlan.Input, _ step: CallPlan.Step, _ plan: CallPlan) -> Traced? {
    var next = self
    next.plan = plan
    switch step {
    case .send(let generation):
      next.isAgain = isAgain || stage == "sent" || stage == "refused"
      next.stage = next.isAgain ? "sent again" : "sent"
      if let generation { next.used = generation }
      if case .own = target { next.belong(to: input.observed) }
    case .ask:
      next.stage = stage == "sent" ? "refused" : "waiting"
      next.belong(to: input.observed)
    case .pause:
      next.stage = "resting"
      next.attempt += 1
    case .deliver, .fail: return nil
    }
    return next
  }
}

@Suite("The plan of a call, row by row of Specs/Calls.md")
struct CallPlanTests {
  private static let one = CallPlan.Owner(user: "u-1", since: Timestamp(milliseconds: 1))
  private static let later = CallPlan.Owner(user: "u-1", since: Timestamp(milliseconds: 2))
  private static let other = CallPlan.Owner(user: "u-2", since: Timestamp(milliseconds: 1))

  private static let standings: [CallPlan.Observed] =
    [.noUser, .expired("u-1"), .expired("u-2")]
    + [one, later, other].flatMap { owner in
      [CallPlan.Observed.unread(owner)]
        + (1...3).flatMap { number in
          [true, false].map {
            CallPlan.Observed.holding(owner, Generation(UInt64(number)), isGood: $0)
          }
        }
    }

  private static let inputs: [CallPlan.Input] =
    standings.flatMap {
      [CallPlan.Input.begun($0), .refused($0), .needsUser($0), .refreshed($0), .backoffEnded($0)]
    } + [.answered, .limited]
    + [true, false].flatMap { [.notRefreshed(hasNothing: $0), .lost(isTransient: $0)] }

  private static func word(_ step: CallPlan.Step, used: Generation) -> String {
    switch step {
    case .send(nil): "send as it is"
    case .send: "send"
    case .ask(.ifExpired): "ask ifExpired"
    case .ask(.unlessNewer(than: let generation)) where generation == used: "ask unlessNewer"
    case .ask: "ask for something else"
    case .pause: "pause"
    case .deliver: "deliver"
    case .fail(let reason): "fail \(reason)"
    }
  }

  /// The words of the first four cells of each row.
  private static let cells = CallTables.rules.map { row in
    // "lost with attempts left" is one entry that contains a comma.
    (0..<4).map { [row[$0]] + row[$0].components(separatedBy: ", ") }
  }

  private static func fits(_ words: [String], _ word: String) -> Bool {
    words.contains { $0 == word || $0 == "any" }
  }

  private static func row(_ call: Traced, _ input: CallPlan.Input) -> Int? {
    let words = call.words(input)
    return cells.firstIndex { row in
      fits(row[0], call.kind) && fits(row[1], call.stage) && fits(row[2], words.happened)
        && fits(row[3], words.shows)
    }
  }

  @Test(
    "INT-1 INT-2 INT-3 OUT-4 every path of a call has a row in the table, and every row is reached")
  func exhaustive() throws {
    #expect(CallTables.rules.count > 20)
    var seen: Set<Traced> = []
    var rows: Set<Int> = []
    var steps = 0
    var work: [Traced] = CallPlan.Target.allCases.flatMap { target in
      [true, false].flatMap { isStream in
        [1, 3].map { Traced(target, isStream: isStream, attempts: $0) }
      }
    }
    while let call = work.popLast() {
      guard seen.insert(call).inserted else { continue }
      for input in Self.inputs {
        var plan = call.plan
        let step = plan.next(input)
        steps += 1
        let row = try #require(Self.row(call, input))
        rows.insert(row)
        #expect(
          Self.word(step, used: call.used) == CallTables.rules[row][4],
          "\(call.kind), \(call.stage), \(input)")
        if let next = call.after(input, step, plan) { work.append(next) }
        if case .send(let generation?) = step {
          // The token never belongs to another session.
          guard case .holding(let owner, let shown, _) = input.observed else {
            Issue.record("sent with a token that nobody shows")
            continue
          }
          #expect(shown == generation)
          #expect(call.user ?? owner.user == owner.user)
          #expect(call.since ?? owner.since == owner.since)
        }
        // A call that has ended stays ended.
        if case .deliver = step { #expect(plan.next(input) == .fail(.cause)) }
        if case .fail = step { #expect(plan.next(input) == .fail(.cause)) }
      }
    }
    #expect(steps > 5_000)
    #expect(rows.count == CallTables.rules.count, "a row that no call meets")
  }

  @Test(
    "INT-1 INT-3 INT-5 STO-4 a call gets the token exactly if the table says so",
    arguments: CallTables.targets)
  func target(row: CallTables.Row) throws {
    let allowsInsecure = row[0].hasSuffix("+")
    let base = row[0].filter { $0 != " " && $0 != "+" }
    var rules = CallRules()
    rules.publicPaths = ["/help/*", "/status"]
    rules.origins = [try #require(URL(string: "https://files.school.test:8443"))]
    rules.allowsInsecure = allowsInsecure
    var wire = HTTPBackend.snakeCaseJSON(try #require(URL(string: base)))
    wire.profile = .get("users/me", accessToken: .bearer)
    wire.register = "users"
    wire.social = "social?v=2"
    let call = row[1].split(separator: " ")
    let head = CallHead(
      method: String(call[0]), url: URL(string: String(call[1])), isAuthorized: row[2] != "none")
    let mark: CallMark =
      switch row[3] {
      case "plain": .plain
      case "authenticated": .authenticated
      default: .byRules
      }
    #expect("\(rules.target(head, wire, as: mark))" == row[4])
  }

  @Test(
    "INT-5 a call to an endpoint's address gets the token as the table says",
    arguments: CallTables.shared)
  func sharedAddress(row: CallTables.Row) throws {
    var wire = HTTPBackend(baseURL: try #require(URL(string: "https://h")))
    for text in row[0].components(separatedBy: ", ") {
      let words = text.split(separator: " ").map(String.init)
      let endpoint = HTTPEndpoint(words.count > 2 ? words[2] : "", method: words[1])
      switch words[0] {
      case "login": wire.login = endpoint
      case "refresh": wire.refresh = endpoint
      case "profile": wire.profile = endpoint
      default: wire.revocation = endpoint
      }
    }
    var rules = CallRules()
    rules.endpointsAreShared = ["yes": true, "no": false][row[1]]
    let call = row[2].split(separator: " ")
    let head = CallHead(
      method: String(call[0]), url: URL(string: String(call[1])), isAuthorized: false)
    #expect("\(rules.target(head, wire))" == row[3])
  }

  @Test("the tables have enough rows")
  func tables() {
    #expect(CallTables.targets.count >= 60)
    #expect(CallTables.shared.count >= 14)
    #expect(CallTables.bodies.count >= 10)
    #expect(CallTables.window.count >= 14)
  }
}

extension CallPlan.Input {
  fileprivate var observed: CallPlan.Observed? {
    switch self {
    case .begun(let observed), .refused(let observed), .needsUser(let observed),
      .refreshed(let observed),
      .backoffEnded(let observed):
      observed
    case .answered, .limited, .notRefreshed, .lost: nil
    }
  }
}

/// The tables of `Specs/Calls.md`, found by their headers.
enum CallTables {
  typealias Row = SpecPage.Row

  private static let page = SpecPage("Calls.md")

  static let targets = rows(["backend at", "call", "Authorization", "marked", "the call is"])
  static let shared = rows(["endpoints", "shared", "call", "the call is"])
  static let bodies = page.rows(["member", "body", "is sent as"]).map { Row(cells: $0) }
  static let locations = page.rows(["Location", "leads to"]).map { Row(cells: $0) }
  static let methods = rows(["status", "method", "next"])
  static let window = rows(["at", "refused", "verdict", "told"])
  static let rules = rows(["target", "stage", "what happened", "the session shows", "next"])

  /// The rows of the table with this header, or none if there is no such table.
  private static func rows(_ head: [String]) -> [Row] {
    page.rows(head).map { Row(cells: $0.map { $0.filter { $0 != "`" } }) }
  }
}
