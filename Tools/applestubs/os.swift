// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's module os that Tools/examples/Sources/insight uses, as its interface declares it.

public struct OSLogPrivacy: Sendable {
  public static var `public`: OSLogPrivacy { OSLogPrivacy() }
  public static var auto: OSLogPrivacy { OSLogPrivacy() }
}

public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
  public init(literalCapacity: Int, interpolationCount: Int) {}
  public mutating func appendLiteral(_ literal: String) {}
  public mutating func appendInterpolation(
    _ argumentString: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
  ) {}
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
  public init(stringInterpolation: OSLogInterpolation) {}
  public init(stringLiteral value: String) {}
}

public struct SignpostMetadata: ExpressibleByStringInterpolation {
  public init(stringInterpolation: OSLogInterpolation) {}
  public init(stringLiteral value: String) {}
}

public struct Logger: Sendable {
  public init(subsystem: String, category: String) {}
  public func notice(_ message: OSLogMessage) {}
}

public struct OSSignpostID: Sendable {
  public static var exclusive: OSSignpostID { OSSignpostID() }
}

public struct OSSignposter: Sendable {
  public init(subsystem: String, category: String) {}
  public func emitEvent(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata
  ) {}
}
