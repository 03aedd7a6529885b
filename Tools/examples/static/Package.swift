// swift-tools-version: 6.2
import PackageDescription

// The command-line tool `notes` for Linux as one file, without libcurl: the library without its trait URLSession,
// and AsyncHTTPClient as the transport. It is a package of its own, since the traits of a package are those of the
// whole build.
let package = Package(
  name: "notes-static",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "session-journal", path: "../../..", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  ],
  targets: [
    // `Sources` has links to the example and to the adapter of AsyncHTTPClient.
    .executableTarget(
      name: "notes",
      dependencies: [
        .product(name: "SessionKit", package: "session-journal"),
        .product(name: "SessionHTTP", package: "session-journal"),
        .product(name: "SessionWebSignIn", package: "session-journal"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      path: "Sources",
      swiftSettings: [
        .define("STATIC"),
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
