@_spi(Internals) import SessionCore

// How long a token is good: the first source that says it.
extension HTTPBackend {
  /// Milliseconds from when the answer arrived; 1 to ten years.
  func lifetime(
    _ members: JSONMembers, claims: JSONMembers?, since date: Timestamp?
  ) throws(Unreadable) -> Int64 {
    var problem: Unreadable?
    for source in answer.lifetime {
      do throws(Unreadable) {
        if let lifetime = try lifetime(source, members, claims, date) { return lifetime }
      } catch {
        problem = problem ?? error
      }
    }
    throw problem ?? missingLifetime(members)
  }

  /// What is assumed of a token of which nothing is said.
  var assumedLifetime: Int64? {
    for case .assumed(let milliseconds) in answer.lifetime {
      return min(max(1, milliseconds), TokenLifetime.longest)
    }
    return nil
  }

  /// The same for a token that counts although nothing that the backend names says it: until its own `exp`,
  /// else as long as the one before, at most a day, else five minutes.
  func unstatedLifetime(
    _ claims: JSONMembers?, since date: Timestamp?, before: Int64?
  ) -> Int64 {
    do throws(Unreadable) {
      if let claims, let end = claims.time("exp") {
        return try claimed(until: end, issued: claims.time("iat"), now: date, "exp")
      }
    } catch {
      // Not a time that it can be good until: as if it were not there.
    }
    return before.map { min(max(1, $0), 86_400_000) } ?? 300_000
  }

  /// How long a token that an SDK gave is good from `now`: as the SDK says, else until its own `exp`, else
  /// as long as is assumed of any, else as long as the one `before`, at most a day.
  func lifetime(
    said: Int64?, until end: Timestamp?, claims: JSONMembers?, at now: Timestamp, before: Int64?
  ) throws(Unreadable) -> Int64 {
    let must = "a time within ten years"
    if let said { return try bounded(Double(said), "the lifetime", must) }
    if let end { return try bounded(Double(end.milliseconds(since: now)), "expiresAt", must) }
    if let claims, let end = claims.time("exp") {
      return try claimed(until: end, issued: claims.time("iat"), now: now, "exp")
    }
    if let assumed = assumedLifetime ?? before.map({ min(max(1, $0), 86_400_000) }) {
      return assumed
    }
    throw Unreadable("nothing says how long the token is good")
  }

  private func lifetime(
    _ source: TokenLifetime, _ members: JSONMembers, _ claims: JSONMembers?, _ date: Timestamp?
  ) throws(Unreadable) -> Int64? {
    switch source {
    case .seconds(let path):
      let must = source.must
      guard let seconds = try members.number(path, must: must) else { return nil }
      return try bounded(seconds * 1000, members.name(path), must)
    case .milliseconds(let path):
      let must = source.must
      guard let count = try members.number(path, must: must) else { return nil }
      return try bounded(count, members.name(path), must)
    case .instant(let path):
      guard let instant = try members.instant(path, must: source.must) else { return nil }
      guard let start = date ?? claims?.time("iat") else {
        throw Unreadable("\(members.name(path)) cannot be measured: the answer has no Date")
      }
      return try bounded(
        Double(instant.milliseconds(since: start)), members.name(path), source.must)
    case .claim(let name):
      guard let claims, let end = claims.time(name) else { return nil }
      return try claimed(until: end, issued: claims.time("iat"), now: date, name)
    case .assumed:
      return assumedLifetime
    }
  }

  /// From the answer's `Date` or the token's `iat`, whichever is later.
  ///
  /// A token may have been issued a while ago. A `Date` that is not before the end is a clock's fault, and `iat` counts alone.
  private func claimed(
    until end: Timestamp, issued: Timestamp?, now: Timestamp?, _ name: String
  ) throws(Unreadable) -> Int64 {
    let word = "claim \(name) of the access token"
    let starts = [issued, now].compactMap(\.self).filter { $0 < end }
    guard let start = starts.max() else {
      guard issued != nil || now != nil else {
        throw Unreadable("\(word) cannot be measured: there is neither Date nor iat")
      }
      throw Unreadable("\(word) is not after Date and iat")
    }
    return try bounded(Double(end.milliseconds(since: start)), word, "a time within ten years")
  }

  private func bounded(
    _ milliseconds: Double, _ name: String, _ must: String
  ) throws(Unreadable) -> Int64 {
    let whole = milliseconds.rounded()
    guard whole >= 1 else { throw Unreadable("\(name) is not above 0; it must be \(must)") }
    guard whole <= Double(TokenLifetime.longest) else {
      throw Unreadable("\(name) is more than ten years; it must be \(must)")
    }
    return Int64(whole)
  }

  private func missingLifetime(_ members: JSONMembers) -> Unreadable {
    switch answer.lifetime.first {
    case .seconds(let path), .milliseconds(let path), .instant(let path):
      Unreadable("\(members.name(path)) is missing; it must be \(answer.lifetime[0].must)")
    case .claim(let name): Unreadable("the access token has no claim \(name)")
    case .assumed, nil: Unreadable("the backend does not say how long a token is good")
    }
  }
}

extension TokenLifetime {
  fileprivate var must: String {
    switch self {
    case .seconds: "a number of seconds above 0"
    case .milliseconds: "a number of milliseconds above 0"
    case .instant: "a time after the answer's Date"
    case .claim, .assumed: "a time"
    }
  }
}
