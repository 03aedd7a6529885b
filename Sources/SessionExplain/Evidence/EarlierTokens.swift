@_spi(Internals) import SessionCore

/// What the journal has about the tokens of one sign-in that newer ones have replaced.
///
/// A server with reuse detection that sees one of them again may revoke the whole family. So a request
/// counts whatever token it carried.
///
/// - Requirement: RPL-6
struct EarlierTokens: Hashable, Sendable {
  /// The requests with them that leave open, or say, what the server did; oldest first.
  private(set) var requests: [RequestTrace] = []
  /// How many requests with them there were.
  private(set) var count: UInt64 = 0
  /// Who sent all of them.
  private(set) var senders = RequestSenders()
  /// Whether every use of these tokens is in the journal, and nothing of it was dropped here.
  var isWhole = true

  /// How many requests are kept from the first on, and before the last.
  static let keptFirst = 4
  static let keptLast = 12

  /// Tokens of which no record was read.
  static let unknown: EarlierTokens = {
    var tokens = EarlierTokens()
    tokens.isWhole = false
    return tokens
  }()

  /// Takes in a token that a newer one has replaced.
  mutating func add(_ token: TokenHistory) {
    isWhole = isWhole && token.isWhole && token.omitted == 0
    for request in token.requests {
      count += 1
      senders.add(request)
      if request.tellsOfReuse { keep(request) }
    }
  }

  private mutating func keep(_ request: RequestTrace) {
    if requests.count == Self.keptFirst + Self.keptLast {
      requests.remove(at: Self.keptFirst)
      isWhole = false
    }
    requests.append(request)
  }

  /// Takes note of what names a request of an older token.
  mutating func end(_ fact: Fact) {
    guard let number = fact.answers,
      let index = requests.lastIndex(where: { $0.number == number })
    else { return }
    requests[index].nameEnd(fact) { _ in .connection }
  }

  /// The last request that the server answered with a code that says *used*, noted after a record.
  func reuse(after sequence: UInt64) -> (request: RequestTrace, answer: Fact)? {
    for request in requests.reversed() {
      guard let answer = request.reuseAnswer, answer.sequence > sequence else { continue }
      return (request, answer)
    }
    return nil
  }
}

/// Whether one opening of the journal sent all requests.
struct RequestSenders: Hashable, Sendable {
  /// The process that sent the first of them.
  private(set) var process: UInt32?
  /// Whether no other one can have sent one.
  private(set) var isOne = true
  private var life: UInt64 = 0

  mutating func add(_ request: RequestTrace) {
    guard let sent = request.sent.requestSent else { return }
    if process == nil { (process, life) = (sent.process, request.life) }
    // The same number after another opening may be another process.
    let isSame = process == sent.process && life == request.life
    isOne = isOne && isSame && request.isCertain
  }
}

extension RequestTrace {
  /// Takes note of a record that names its end, for the first time or again.
  mutating func nameEnd(_ fact: Fact, how: (RequestTrace) -> Fate.How) {
    // A process that comes back late names its request again; the first note decided.
    guard end == nil else {
      // An answer is one, whatever is noted after it.
      if lateAnswer == nil || fact.failure?.kind.isAnswered != false { late = fact }
      return
    }
    end = fact
    if let failure = fact.failure {
      fate = Self.isNoAnswer(failure) ? .lost(how(self)) : .failed(failure)
    } else {
      fate = .answered
    }
  }

  /// Whether the server may have seen its token after a newer one had replaced it, or says more of it.
  fileprivate var tellsOfReuse: Bool {
    isLost || isDubious || late != nil || dropped != nil || isRefused
  }

  /// Whether its answer is a final refusal.
  var isRefused: Bool {
    guard case .failed(let failure) = outcome else { return false }
    return failure.kind.isAnswered && failure.kind.isFinal
  }

  /// Whether its answer held a token that is not used, since another process's came first.
  var wasUnused: Bool {
    if case .answerUnused? = late?.note { true } else { false }
  }

  /// The record of an answer that says that the token was used before.
  var reuseAnswer: Fact? {
    [late, end].compactMap { $0 }.first { fact in
      guard isRefresh, let failure = fact.failure, failure.kind.isAnswered else { return false }
      return RefusalWord(failure.serverCode) == .reused
    }
  }
}
