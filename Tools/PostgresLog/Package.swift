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
  name: "postgres-log",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "PostgresLog", targets: ["PostgresLog"]),
    .library(name: "SessionPool", targets: ["SessionPool"]),
    .executable(name: "postgreslog", targets: ["PostgresLogTool"]),
    .executable(name: "logworker", targets: ["logworker"]),
  ],
  dependencies: [
    // The package has an explicit name, so that a clone may be in a folder of any name.
    .package(name: "session-journal", path: "../..")
  ],
  targets: [
    // libpq, the C client of PostgreSQL.
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

    // Logs and secrets of sessions in a schema of PostgreSQL.
    .target(
      name: "PostgresLog",
      dependencies: [
        "CPostgres",
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
      ],
      swiftSettings: strict),

    // Creates the schema, and moves journals into it and back.
    .executableTarget(
      name: "PostgresLogTool",
      dependencies: [
        "PostgresLog",
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
      ],
      swiftSettings: strict),

    // Sessions by the key of an account, for servers; for logs of any kind.
    .target(
      name: "SessionPool",
      dependencies: [.product(name: "SessionKit", package: "session-journal")],
      swiftSettings: strict),

    // An example: a server with the sessions of many accounts.
    .executableTarget(
      name: "accountd",
      dependencies: [
        "PostgresLog", "SessionPool",
        .product(name: "SessionKit", package: "session-journal"),
      ],
      swiftSettings: strict),

    // Measures the figures of Specs/Scale.md.
    .executableTarget(
      name: "measure",
      dependencies: [
        "PostgresLog",
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
      ],
      swiftSettings: strict),

    // A server of tokens for tests with processes.
    .target(
      name: "FileBackend",
      dependencies: [.product(name: "SessionKit", package: "session-journal")],
      swiftSettings: strict),

    // One process of a test, which is killed, stopped or races others.
    .executableTarget(
      name: "logworker",
      dependencies: [
        "PostgresLog", "FileBackend",
        .product(name: "SessionTestKit", package: "session-journal"),
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
      ],
      swiftSettings: strict),

    .testTarget(
      name: "PostgresLogTests",
      dependencies: [
        "PostgresLog", "SessionPool", "FileBackend", "PostgresLogTool", "logworker",
        .product(name: "SessionCore", package: "session-journal"),
        .product(name: "SessionJournal", package: "session-journal"),
        .product(name: "SessionKit", package: "session-journal"),
        .product(name: "SessionTestKit", package: "session-journal"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
