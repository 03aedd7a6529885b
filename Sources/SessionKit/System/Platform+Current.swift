@_spi(Internals) import SessionCore

extension Platform {
  /// The kind of system that this code was compiled for.
  static var current: Platform {
    #if os(iOS) && !targetEnvironment(macCatalyst)
    .iOS
    #elseif os(macOS) || targetEnvironment(macCatalyst)
    .macOS
    #elseif os(watchOS)
    .watchOS
    #elseif os(tvOS)
    .tvOS
    #elseif os(visionOS)
    .visionOS
    #elseif os(Linux)
    .linux
    #elseif os(Android)
    .android
    #elseif os(Windows)
    .windows
    #else
    .unknown
    #endif
  }
}
