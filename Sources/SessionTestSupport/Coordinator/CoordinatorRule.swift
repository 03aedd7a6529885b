/// A rule that every run of a coordinator must obey, whatever happens around it.
package enum CoordinatorRule: String, CaseIterable, Sendable {
  /// C1.
  ///
  /// - Requirement: OUT-4
  case signedOutIsQuiet = "C1 signed out, no request for a token leaves and none is kept"
  /// C2.
  ///
  /// - Requirement: REF-3, CTX-2
  case oneFlight = "C2 at most one request on the wire may change a token"
  /// C3.
  ///
  /// - Requirement: REF-3
  case everyCallerOnce = "C3 every caller is replied to exactly once"
  /// C4.
  case commitIsLast = "C4 a commit is the last effect of its list"
  /// C5.
  ///
  /// - Requirement: STA-2
  case commitsAreLegal = "C5 every commit's records can be folded"
  /// C6.
  ///
  /// - Requirement: OUT-4, REF-3
  case baseDecides = "C6 an answer counts exactly if its base generation is still current"
  /// C7.
  ///
  /// - Requirement: REF-6
  case networkEndsNothing = "C7 want of a network ends no session"
  /// C8.
  ///
  /// - Requirement: REF-8
  case clockJumpsChangeNothing = "C8 clock jumps neither extend nor cut a token's life"
  /// C9.
  case duplicatesAreHarmless = "C9 a reply that comes twice changes nothing"
  /// C10.
  ///
  /// - Requirement: POL-2
  case endsHaveOneCause = "C10 each end of a session has exactly one cause"
  /// C11.
  case cancelSparesOthers = "C11 cancelling one caller spares the others"
  /// C12.
  ///
  /// - Requirement: REF-1
  case refreshIsAlwaysDue = "C12 a refreshable session always has a refresh ahead"
  /// C13.
  case workIsBounded = "C13 one input leads to a bounded amount of work"
  /// C14.
  case waitersFinish = "C14 once faults stop, every waiter finishes in bounded time"
  /// C15.
  ///
  /// - Requirement: STA-7
  case publishedOnce = "C15 each event is published once, in order, and only when durable"
  /// C16.
  case repliesAreTrue = "C16 a caller is told of a success only when it is durable"
  /// C17.
  ///
  /// - Requirement: STA-1
  case stateIsTheFold = "C17 the live state is the fold of the journal, and the model agrees"
  /// C18.
  ///
  /// - Requirement: REF-3
  case leasesAreKept = "C18 another process's request is waited for"
  /// C19.
  ///
  /// - Requirement: STA-2, LOG-10
  case rejectionsChangeNothing = "C19 a rejected command changes no state and appends nothing"
  /// C22.
  ///
  /// - Requirement: REF-7
  case closingWaits = "C22 closing waits for the answer that is on its way"
  /// C24.
  ///
  /// - Requirement: RES-1
  case restoredIsStored = "C24 a restored session's token is the one that is stored"
  /// C25.
  ///
  /// - Requirement: REF-14
  case networkPutsNothingOff = "C25 a failure without an answer puts nothing off"

  /// All rules.
  package static let all = Set(allCases)
}
