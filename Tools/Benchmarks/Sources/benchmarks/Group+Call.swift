internal import Foundation
internal import SessionHTTP
internal import SessionKit
internal import Synchronization

extension Group {
  /// The time that the session adds to a protected call with a valid token.
  static let call = Group(name: "call", summary: "a protected call with a good token") { stage in
    let place = VisitorPlace(stage)
    let session = try blocking { try await Visitor.signedIn(at: place) }
    guard let url = URL(string: "http://localhost/materials") else { throw Problem("no address") }
    let request = Nowhere.Request(url: url)
    let client = Nowhere()
    let calls = session.calls(by: client)
    let shelf = Mutex(session.currentToken)
    let count = stage.pick(20_000, 200_000)
    let contenders = [
      Contest.Contender(name: "call") {
        try blocking {
          try await time(count) {
            for _ in 0..<count { _ = try await calls.send(request) }
          }
        }
      },
      Contest.Contender(name: "client") {
        try blocking {
          try await time(count) {
            for _ in 0..<count { _ = try await client.send(request) }
          }
        }
      },
      Contest.Contender(name: "Mutex") {
        .timing(count) {
          for _ in 0..<count { keep(shelf.withLock { $0 }) }
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
    try blocking { try await session.close() }
    guard let all = rates["call"], let bare = rates["client"], let lock = rates["Mutex"] else {
      throw Problem("calls were not measured")
    }
    let ours = zip(all, bare).map { 1e9 / $0 - 1e9 / $1 }
    let reads = lock.map { 1e9 / $0 }
    return Outcome(figures: [
      Figure(
        name: "call.overhead", against: "Mutex", goal: .none,
        ratio: Samples(zip(ours, reads).map { $0 / $1 }), value: Samples(ours).median,
        againstValue: Samples(reads).median, unit: "ns")
    ])
  }

  private static func time(_ count: Int, _ work: @Sendable () async throws -> Void) async throws
    -> Contest.Run
  {
    let clock = ContinuousClock()
    let start = clock.now
    try await work()
    return Contest.Run(units: count, seconds: (clock.now - start) / .seconds(1))
  }
}

/// A client without a server, which answers at once.
private struct Nowhere: CallClient {
  struct Request: Sendable {
    let url: URL
    var authorization: Secret?
  }

  func head(of request: Request, token place: CallTokenPlace) -> CallHead {
    CallHead(method: "GET", url: request.url, isAuthorized: request.authorization != nil)
  }

  func authorize(_ request: inout Request, with token: CallToken) {
    request.authorization = Secret(token.plaintext)
  }

  @inline(never)
  func send(_ request: Request) async throws -> Int { 200 }

  func status(of response: Int) -> Int? { response }

  func answer(_ response: Int) -> HTTPResponse { HTTPResponse(status: response) }
}
