@_spi(Internals) import SessionCore
import SessionKit

// The lifetime of a token, from the first source that states it.
extension HTTPBackend {
  /// Returns the lifetime in milliseconds from the arrival of the response, from 1 to ten years.
  func lifetime(
    _ members: JSONMembers, claims: JSONMembers?, since start: inout InstantStart
  ) throws(Unreadable) -> Int64 {
    var problem: Unreadable?
    for source in response.lifetime {
      do throws(Unreadable) {
        // A source that fails does not count as measured by the device's clock.
        var used = start
        guard let lifetime = try lifetime(source, members, claims, &used) else { continue }
        start = used
        return lifetime
      } catch {
        problem = problem ?? error
      }
    }
    throw problem ?? missingLifetime(members)
  }

  /// The default lifetime of a token that does not state one.
  var assumedLifetime: Int64? {
    for case .assumed(let lifetime) in response.lifetime {
      return min(max(1, lifetime.wholeMilliseconds), TokenMetadata.unknownLifetime)
    }
    return nil
  }

  /// Returns the lifetime of a token that must be kept although no configured source states it.
  ///
  /// The first of these counts: the token's own `exp`, the lifetime of the previous token but at
  /// most a day, five minutes.
  func unstatedLifetime(
    _ claims: JSONMembers?, since start: inout InstantStart, before: Int64?
  ) -> Int64 {
    do throws(Unreadable) {
      var used = start
      if let lifetime = try lifetime(.claim("exp"), .none, claims, &used) {
        start = used
        return lifetime
      }
    } catch {
      // The time cannot be an end of the token's validity, so it counts as missing.
    }
    // A backend seldom changes the lifetime, and a day is soon enough for a refresh token not to
    // expire unused. One that is too long costs one call with a 401, one that is too short costs a
    // refresh.
    return before.map(TokenLife.asBefore) ?? 300_000
  }

  private func lifetime(
    _ source: TokenLifetime, _ members: JSONMembers, _ claims: JSONMembers?,
    _ start: inout InstantStart
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
      guard let instant = try instant(members, path, source.must) else { return nil }
      let begin = try start.begin(members, path, claims)
      return try TokenLife.bounded(
        Double(instant.milliseconds(since: begin)), members.name(path), source.must)
    case .claim(let name):
      guard let claims, let end = claims.time(name) else { return nil }
      let issued = claims.time("iat")
      return try TokenLife.claimed(
        until: end, issued: issued, now: start.now(besides: issued), name)
    case .assumed:
      return assumedLifetime
    }
  }

  /// Returns the maximum duration of the session from the arrival of the response; `nil` if no
  /// source states it.
  ///
  /// - Requirement: POL-10
  func sessionLifetime(
    _ members: JSONMembers, claims: JSONMembers?, since start: inout InstantStart
  ) throws(Unreadable) -> Duration? {
    var problem: Unreadable?
    for source in response.sessionLifetime {
      do throws(Unreadable) {
        var used = start
        guard let rest = try rest(source, members, claims, &used) else { continue }
        start = used
        return .milliseconds(rest)
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// Returns a lifetime that is only a hint; `nil` if no path has a number of seconds above 0.
  ///
  /// A response that states it in another way is not refused.
  ///
  /// - Requirement: REF-16
  func hint(_ members: JSONMembers, at paths: MemberPaths) -> Duration? {
    for path in paths {
      do throws(Unreadable) {
        guard let seconds = try members.number(path, must: "a number of seconds"), seconds >= 1
        else { continue }
        return .milliseconds(
          Int64(min(seconds * 1000, Double(TokenMetadata.unknownLifetime)).rounded()))
      } catch { continue }
    }
    return nil
  }

  /// Returns the milliseconds until the end that a source states, from 0 to ten years.
  ///
  /// Unlike a token's end, it may have passed.
  private func rest(
    _ source: TokenLifetime, _ members: JSONMembers, _ claims: JSONMembers?,
    _ start: inout InstantStart
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
      guard let end = try instant(members, path, "a time") else { return nil }
      let begin = try start.begin(members, path, claims)
      return TokenMetadata.boundedSessionLifetime(end.milliseconds(since: begin))
    case .claim(let name):
      guard let claims, let end = claims.time(name) else { return nil }
      let issued = claims.time("iat")
      guard let begin = [issued, start.now(besides: issued)].compactMap(\.self).max() else {
        throw Unreadable(
          "claim \(name) of the access token cannot be measured: Date and iat are both missing; "
            + TokenLife.deviceClockHint)
      }
      return TokenMetadata.boundedSessionLifetime(end.milliseconds(since: begin))
    case .assumed: return nil
    }
  }

  private func instant(
    _ members: JSONMembers, _ path: MemberPath, _ must: String
  ) throws(Unreadable) -> Timestamp? {
    try members.instant(path, must: must, assumesUTC: response.assumesUTC)
  }

  private func missingLifetime(_ members: JSONMembers) -> Unreadable {
    switch response.lifetime.first {
    case .seconds(let path), .milliseconds(let path), .instant(let path):
      Unreadable("\(members.name(path)) is missing; it must be \(response.lifetime[0].must)")
    case .claim(let name): Unreadable("the access token has no claim \(name)")
    case .assumed, nil: Unreadable("the backend does not state how long a token is valid")
    }
  }
}

/// The time of a response, from which an instant is measured.
struct InstantStart {
  /// The response's `Date`.
  let date: Timestamp?
  /// The time by the device's clock, if the app allows it.
  private let device: Timestamp?
  /// Whether the device's clock was read.
  private(set) var isOfDevice = false

  init(_ response: HTTPResponse, device: Timestamp?) {
    date = response.header("Date").flatMap { Timestamp(httpDate: $0) }
    self.device = device
  }

  /// Returns the time now; by the device's clock only if there is neither a `Date` nor an `iat`.
  mutating func now(besides issued: Timestamp?) -> Timestamp? {
    guard date == nil, issued == nil, let device else { return date }
    isOfDevice = true
    return device
  }

  /// Returns the time from which the instant at a path is measured.
  mutating func begin(
    _ members: JSONMembers, _ path: MemberPath, _ claims: JSONMembers?
  ) throws(Unreadable) -> Timestamp {
    let issued = claims?.time("iat")
    if let begin = now(besides: issued) ?? issued { return begin }
    throw Unreadable(
      "\(members.name(path)) cannot be measured: the response has no Date; "
        + TokenLife.deviceClockHint)
  }
}

extension TokenLifetime {
  fileprivate var must: String {
    switch self {
    case .seconds: "a number of seconds above 0"
    case .milliseconds: "a number of milliseconds above 0"
    case .instant: "a time after the response's Date"
    case .claim, .assumed: "a time"
    }
  }
}
