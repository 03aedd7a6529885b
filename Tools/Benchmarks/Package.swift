// swift-tools-version: 6.2
import PackageDescription

/// The same settings as in the root package.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The package has an explicit name, so that a clone may be in a folder of any name.
    .package(name: "session-journal", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    .package(url: "https://github.com/apple/swift-protobuf", exact: "1.39.0"),
  ],
  targets: [
    // Functions that only C can reach: LevelDB, if it is installed, and the time spent in syncs.
    .target(name: "CPeers"),

    // The records for swift-protobuf. This is a target of its own, since generated code has its own
    // style.
    .target(
      name: "RecordMessages",
      dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")]),

    .executableTarget(
      name: "benchmarks",
      dependencies: [
        "CPeers", "RecordMessages",
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
        .product(name: "SessionHTTP", package: "session-journal"),
        .product(name: "SessionChanges", package: "session-journal"),
        .product(name: "SessionTestKit", package: "session-journal"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
