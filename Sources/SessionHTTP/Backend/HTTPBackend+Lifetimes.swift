@_spi(Internals) import SessionCore
import SessionKit

// How long a token is good: the first source that says it.
extension HTTPBackend {
  /// Milliseconds from when the answer arrived; 1 to ten years.
  func lifetime(
    _ members: JSONMembers, claims: JSONMembers?, since date: Timestamp?
  ) throws(Unreadable) -> Int64 {
    var problem: Unreadable?
    for source in response.lifetime {
      do throws(Unreadable) {
        if let lifetime = try lifetime(source, members, claims, date) { return lifetime }
      } catch {
        problem = problem ?? error
      }
    }
    throw problem ?? missingLifetime(members)
  }

  /// What is assumed of a token of which nothing is said.
  package var assumedLifetime: Int64? {
    for case .assumed(let lifetime) in response.lifetime {
      return min(max(1, lifetime.wholeMilliseconds), TokenMetadata.unknownLifetime)
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
        return try TokenLife.claimed(until: end, issued: claims.time("iat"), now: date, "exp")
      }
    } catch {
      // Not a time that it can be good until: as if it were not there.
    }
    return before.map(TokenLife.asBefore) ?? 300_000
  }

  private func lifetime(
    _ source: TokenLifetime, _ members: JSONMembers, _ claims: JSONMembers?, _ date: Timestamp?
  ) throws(Unreadable) -> Int64? {
    switch source {
    case .seconds(let path):
      let must = source.must
      guard let seconds = try members.number(path, must: must) else { return nil }
      return try TokenLife.bounded(seconds * 1000, members.name(path), must)
    case .milliseconds(let path):
      let must = source.must
      guard let count = try members.number(path, must: must) else { return nil }
      return try TokenLife.bounded(count, members.name(path), must)
    case .instant(let path):
      guard let instant = try members.instant(path, must: source.must) else { return nil }
      guard let start = date ?? claims?.time("iat") else {
        throw Unreadable("\(members.name(path)) cannot be measured: the answer has no Date")
      }
      return try TokenLife.bounded(
        Double(instant.milliseconds(since: start)), members.name(path), source.must)
    case .claim(let name):
      guard let claims, let end = claims.time(name) else { return nil }
      return try TokenLife.claimed(until: end, issued: claims.time("iat"), now: date, name)
    case .assumed:
      return assumedLifetime
    }
  }

  /// How long the session lasts at most from when the answer arrived; `nil` if no source says it.
  ///
  /// - Requirement: POL-10
  func sessionLifetime(
    _ members: JSONMembers, claims: JSONMembers?, since date: Timestamp?
  ) throws(Unreadable) -> Duration? {
    var problem: Unreadable?
    for source in response.sessionLifetime {
      do throws(Unreadable) {
        if let rest = try rest(source, members, claims, date) { return .milliseconds(rest) }
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// Milliseconds until the end that a source says, 0 to ten years: it may have passed, as no token's has.
  private func rest(
    _ source: TokenLifetime, _ members: JSONMembers, _ claims: JSONMembers?, _ date: Timestamp?
  ) throws(Unreadable) -> Int64? {
    switch source {
    case .seconds(let path), .milliseconds(let path):
      guard let count = try members.number(path, must: source.must) else { return nil }
      let milliseconds = (source == .seconds(path) ? count * 1000 : count).rounded()
      guard milliseconds >= 1 else {
        throw Unreadable("\(members.name(path)) is not above 0; it must be \(source.must)")
      }
      return Int64(min(milliseconds, Double(TokenMetadata.unknownLifetime)))
    case .instant(let path):
      guard let end = try members.instant(path, must: "a time") else { return nil }
      guard let start = date ?? claims?.time("iat") else {
        throw Unreadable("\(members.name(path)) cannot be measured: the answer has no Date")
      }
      return TokenMetadata.boundedSessionLifetime(end.milliseconds(since: start))
    case .claim(let name):
      guard let claims, let end = claims.time(name) else { return nil }
      guard let start = [claims.time("iat"), date].compactMap(\.self).max() else {
        throw Unreadable(
          "claim \(name) of the access token cannot be measured: there is neither Date nor iat")
      }
      return TokenMetadata.boundedSessionLifetime(end.milliseconds(since: start))
    case .assumed: return nil
    }
  }

  private func missingLifetime(_ members: JSONMembers) -> Unreadable {
    switch response.lifetime.first {
    case .seconds(let path), .milliseconds(let path), .instant(let path):
      Unreadable("\(members.name(path)) is missing; it must be \(response.lifetime[0].must)")
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
