@_spi(Internals) import SessionCore

/// The journal's records about replaced tokens of one login.
///
/// A server with reuse detection may revoke the whole family if it receives one of these tokens
/// again. So each request matters, whichever token it carried.
///
/// - Requirement: RPL-6
struct EarlierTokens: Hashable, Sendable {
  // `why` once read only the requests with the newest token. It explained such an end as a logout
  // elsewhere, and ruled out lost responses and peers. Now either is ruled out only if every
  // request since the login rules it out, and neither after a compaction, damage or an adoption.

  /// The requests with these tokens that may have, or have, caused a reuse; the oldest first.
  private(set) var requests: [RequestTrace] = []
  /// The number of requests with these tokens.
  private(set) var count: UInt64 = 0
  /// The senders of these requests.
  private(set) var senders = RequestSenders()
  /// Whether the journal has every use of these tokens, and no request was omitted here.
  var isWhole = true

  /// The number of requests that are kept from the first on, and before the last.
  static let keptFirst = 4
  static let keptLast = 12

  /// A value for tokens of which no record was read.
  static let unknown: EarlierTokens = {
    var tokens = EarlierTokens()
    tokens.isWhole = false
    return tokens
  }()

  /// Adds the requests with a token that a newer one has replaced.
  mutating func add(_ requests: [RequestTrace], isComplete: Bool) {
    isWhole = isWhole && isComplete
    for request in requests {
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

  /// Records the end of a request with an older token.
  mutating func end(_ number: UInt64, _ fact: Fact) {
    guard let index = requests.lastIndex(where: { $0.number == number }) else { return }
    requests[index].nameEnd(fact) { _ in .connection }
  }

  /// Returns the last request that the server answered with a code that means *used*, after it had
  /// issued this token.
  ///
  /// Answers can be recorded in another order than the server gave them. If two requests had one
  /// token and one of them brought the newer token, the server had issued that when it said *used*
  /// to the other one. An answer before the first of them was sent is about an earlier use.
  func reuse(since token: TokenHistory) -> (request: RequestTrace, answer: Fact)? {
    let announced = token.announced?.sequence ?? 0
    let sent = token.announced?.answers ?? announced
    for request in requests.reversed() {
      guard let answer = request.reuseAnswer else { continue }
      let isTwin = request.sent.requestSent?.generation.next == token.generation
      if answer.sequence > (isTwin ? sent : announced) { return (request, answer) }
    }
    return nil
  }
}

/// Whether all requests were sent by one opening of the journal.
struct RequestSenders: Hashable, Sendable {
  /// The process that sent the first request.
  private(set) var process: UInt32?
  /// Whether no other process can have sent one of them.
  private(set) var isOne = true
  private var life: UInt64 = 0

  mutating func add(_ request: RequestTrace) {
    guard let sent = request.sent.requestSent else { return }
    if process == nil { (process, life) = (sent.process, request.life) }
    // After another opening, the same process number may belong to another process.
    let isSame = process == sent.process && life == request.life
    isOne = isOne && isSame && request.isCertain
  }
}

extension [RequestTrace] {
  /// Returns the request whose answer waited to be stored when this one sent the same token.
  ///
  /// - Requirement: REF-21
  func unstored(before other: RequestTrace) -> RequestTrace? {
    last {
      $0.unwritten != nil && $0.isOvertaken && $0.number < other.number
        && $0.sent.requestSent?.generation == other.sent.requestSent?.generation
    }
  }
}

extension Evidence {
  /// Returns the request that sent a token again while the answer to the first one waited to be stored.
  ///
  /// It is the token's own, or that of the token before it, which this answer replaced.
  func resent(_ token: TokenHistory, until refusal: Fact) -> RequestTrace? {
    let before = trail.tokens.earlier.requests
    let twin = before.last { request in
      before.unstored(before: request).map { $0.number == token.announced?.answers } ?? false
    }
    return twin
      ?? token.requests.last { request in
        request.number < refusal.sequence && token.requests.unstored(before: request) != nil
      }
  }
}

extension RequestTrace {
  /// Whether another process, which was open beside its own, presumed it lost.
  fileprivate var isOvertaken: Bool {
    switch fate {
    case .lost(.overtaken), .lost(.taken): true
    default: false
    }
  }

  /// Records an end of the request, the first or a later one.
  mutating func nameEnd(_ fact: Fact, how: (RequestTrace) -> Fate.How) {
    // A process that resumes late records the end again; the first note counts.
    guard end == nil else {
      // An answer stays an answer, even if another note follows.
      if lateAnswer == nil || fact.failure?.kind.isAnswered != false { late = fact }
      return
    }
    end = fact
    if let failure = fact.failure {
      let how = failure.status == 0 ? how(self) : .connection
      fate = Self.isLoss(failure) ? .lost(how) : .failed(failure)
    } else {
      fate = .answered
    }
  }

  /// Whether the server may have seen its token after a newer one replaced it, or an answer says
  /// more about that.
  fileprivate var tellsOfReuse: Bool {
    isLost || isDubious || late != nil || dropped != nil || unwritten != nil || isRefused
  }

  /// Whether its answer is a final rejection.
  var isRefused: Bool {
    guard case .failed(let failure) = outcome else { return false }
    return failure.kind.isAnswered && failure.kind.isFinal
  }

  /// Whether its answer had a token that is not used, since another process's token was stored
  /// first.
  var wasUnused: Bool {
    if case .answerUnused? = late?.note { true } else { false }
  }

  /// The record of an answer with the meaning that the token was used before.
  var reuseAnswer: Fact? {
    [late, end].compactMap { $0 }.first { fact in
      guard isRefresh, let failure = fact.failure, failure.kind.isAnswered else { return false }
      return RefusalWord(failure.serverCode) == .reused
    }
  }
}

/// The meaning of a server's code in the rejection of a refresh token: the table of `Specs/Why.md`.
enum RefusalWord: Hashable, Sendable {
  /// The token was used before.
  case reused
  case revoked
  case expired
  /// The server does not know the token.
  case unknown
  /// The code does not distinguish causes, or there is none.
  case unsaid
  /// There was a code, and the journal does not contain it.
  case notKept
  /// The code states the reason on its own.
  case stated(ServerReason)
  /// The code has no known meaning.
  case strange(String)

  /// The name of each meaning in `Specs/Why.md`, and its codes.
  static let codes: [(says: String, word: RefusalWord, codes: [String])] =
    [
      ("used", .reused, known(.refreshTokenReused)),
      ("revoked", .revoked, known(.tokenRevoked)),
      ("expired", .expired, known(.tokenExpired)),
      ("unknown", .unknown, known(.sessionNotFound)),
      ("nothing", .unsaid, known(.tokenInvalid) + known(.unspecified)),
    ] + ServerReason.allCases.map { ($0.rawValue, .stated($0), $0.codes) }

  private static func known(_ meaning: ErrorMeaning) -> [String] {
    ErrorMeaning.codes.filter { $0.meaning == meaning }.flatMap(\.codes)
      .filter { ServerReason($0) == nil }
  }

  /// Determines the meaning of a code; `configured` is the meaning in the app's configuration.
  init(_ code: String?, meaning configured: ErrorMeaning? = nil) {
    if let reason = ServerReason(code, meaning: configured) {
      self = .stated(reason)
      return
    }
    let known = code.flatMap { ErrorMeaning(code: $0) }
    switch (configured ?? known, code) {
    case (.refreshTokenReused?, _): self = .reused
    case (.tokenRevoked?, _): self = .revoked
    case (.tokenExpired?, _): self = .expired
    case (.sessionNotFound?, _): self = .unknown
    case (.tokenInvalid?, _), (.unspecified?, _), (_, nil): self = .unsaid
    case (nil, RequestFailure.codeNotKept?): self = .notKept
    case (_, let code?): self = .strange(code)
    }
  }
}

extension Fact {
  /// The meaning of the server's code; `nil` if the record has no failure.
  var refusalWord: RefusalWord? {
    failure.map { RefusalWord($0.serverCode, meaning: refreshFailed?.configuredMeaning) }
  }
}
