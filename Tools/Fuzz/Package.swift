// swift-tools-version: 6.2
import PackageDescription

// This is a package of its own: the sanitizers of a fuzzing build must reach the library, and
// libFuzzer has the main function of its programs. ./run builds and runs it.

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "session-journal-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "session-journal", path: "../..")],
  targets: [
    // The checks of each fuzzer.
    .target(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
        .product(name: "SessionHTTP", package: "session-journal"),
        .product(name: "SessionChanges", package: "session-journal"),
        .product(name: "SessionWebSignIn", package: "session-journal"),
        .product(name: "SessionMessages", package: "session-journal"),
      ], swiftSettings: strict),
    // Each of these has one entry point; libFuzzer provides the main function.
    .executableTarget(name: "FuzzHeader", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzJournal", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzFrames", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzPayload", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzChanges", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzAnswer", dependencies: ["FuzzTargets"], swiftSettings: strict),
    .executableTarget(name: "FuzzIdentity", dependencies: ["FuzzTargets"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
