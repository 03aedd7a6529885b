// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the sanitizers of a fuzzing build reach the library and not its tests.
// Built and run by ./run.

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
    // What each fuzzer checks, and a second reading of the format to check it against.
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
    // One entry each: libFuzzer brings the main function.
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
