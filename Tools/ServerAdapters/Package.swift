// swift-tools-version: 6.2
import PackageDescription

// What a server on Linux uses beside the library: an HTTP client, logs, metrics, traces and a service group.
// Each file of ServerAdapters stands alone or says which one it needs, so that you can copy it into an app.
// A package in a folder of a repository cannot be a dependency by URL. ./run builds and tests everything.

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A product of the library.
func library(_ name: String) -> Target.Dependency {
  .product(name: name, package: "session-journal")
}

let client = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")

let package = Package(
  name: "session-journal-server-adapters",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "ServerAdapters", targets: ["ServerAdapters"])
  ],
  dependencies: [
    .package(name: "session-journal", path: "../.."),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  ],
  targets: [
    .target(
      name: "ServerAdapters",
      dependencies: [
        library("SessionKit"), library("SessionHTTP"), library("SessionExplain"), client,
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),

    // The example: a server that keeps a session for each user, whose browser has a cookie only.
    .target(
      name: "Frontend",
      dependencies: [
        "ServerAdapters", library("SessionKit"), library("SessionHTTP"), client,
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "frontendserver",
      dependencies: [
        "Frontend", "ServerAdapters", library("SessionKit"), library("SessionHTTP"), client,
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),

    // Sessions that live for minutes, with measurements. Tools/soak/run starts it.
    .target(name: "CHeap"),
    .executableTarget(
      name: "soak",
      dependencies: [
        "CHeap", "ServerAdapters", library("SessionKit"), library("SessionHTTP"),
        library("SessionTestKit"), client,
      ],
      swiftSettings: strict),

    .testTarget(
      name: "ServerAdaptersTests",
      dependencies: [
        "ServerAdapters", library("SessionKit"), library("SessionHTTP"),
        library("SessionExplain"), library("SessionTestKit"), client,
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FrontendTests",
      dependencies: [
        "Frontend", "ServerAdapters", library("SessionKit"), library("SessionHTTP"),
        library("SessionTestKit"), client,
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
